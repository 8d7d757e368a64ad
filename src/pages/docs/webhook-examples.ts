/**
 * Receivers that verify webhooks, for the documentation. test/alerts/delivery/examples.test.ts extracts them from the
 * page and runs them.
 */
export const nodeReceiver = `// webhook.mjs: takes webhooks, rejects forged and old ones. Node 20 or newer, nothing to install.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const signingSecret = Buffer.from(process.env.SIGNING_SECRET.replace('whsec_', ''), 'base64');
const operatorSecret = process.env.OPERATOR_SECRET; // only if your operator gave you one
const TOLERANCE_SECONDS = 300;

const same = (a, b) => a.length === b.length && timingSafeEqual(a, b);

// body: the raw bytes, before anything has parsed them.
function verify(headers, body) {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\\d+$/.test(timestamp) || age > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', signingSecret).update(id + '.' + timestamp + '.').update(body).digest();
  // While the secret changes there are several signatures: one that fits is enough.
  return (headers['webhook-signature'] ?? '').split(' ').some((signature) => {
    const [version, text = ''] = signature.split(',');
    return version === 'v1' && same(Buffer.from(text, 'base64'), expected);
  });
}

function verifyOperator(headers, body) {
  const expected = 'sha256=' + createHmac('sha256', operatorSecret).update(body).digest('hex');
  return same(Buffer.from(headers['x-gateway-signature'] ?? ''), Buffer.from(expected));
}

const known = new Set(); // yours: a table with a unique column

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (!verify(request.headers, body) || (operatorSecret && !verifyOperator(request.headers, body))) {
    response.writeHead(400).end();
    return;
  }
  const id = request.headers['webhook-id'];
  if (!known.has(id)) {
    known.add(id);
    const event = JSON.parse(body);
    console.log(event.key_prefix + ' has spent ' + event.threshold_pct + '%: $' + event.mtd_spend_usd);
  }
  response.writeHead(204).end();
}).listen(process.env.PORT ?? 8000);
`;

export const pythonReceiver = `# webhook.py: takes webhooks, rejects forged and old ones. Python 3.9 or newer, nothing to install.
import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

signing_secret = base64.b64decode(os.environ["SIGNING_SECRET"].replace("whsec_", ""))
operator_secret = os.environ.get("OPERATOR_SECRET", "").encode()  # only if your operator gave you one
TOLERANCE_SECONDS = 300


def verify(headers, body):
    """body: the raw bytes, before anything has parsed them."""
    timestamp = headers.get("webhook-timestamp", "")
    if not (timestamp.isascii() and timestamp.isdigit()):
        return False
    if abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    content = f"{headers.get('webhook-id', '')}.{timestamp}.".encode() + body
    digest = hmac.new(signing_secret, content, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    # While the secret changes there are several signatures: one that fits is enough.
    given = headers.get("webhook-signature", "").encode().split(b" ")
    return any(hmac.compare_digest(one, expected) for one in given)


def verify_operator(headers, body):
    digest = hmac.new(operator_secret, body, hashlib.sha256).hexdigest()
    given = headers.get("x-gateway-signature", "").encode()
    return hmac.compare_digest(given, f"sha256={digest}".encode())


known = set()  # yours: a table with a unique column


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        genuine = verify(self.headers, body)
        if not genuine or (operator_secret and not verify_operator(self.headers, body)):
            self.send_response(400)
            self.end_headers()
            return
        if self.headers["webhook-id"] not in known:
            known.add(self.headers["webhook-id"])
            event = json.loads(body)
            print(f"{event['key_prefix']} has spent {event['threshold_pct']}%: \${event['mtd_spend_usd']}", flush=True)
        self.send_response(204)
        self.end_headers()


HTTPServer(("", int(os.environ.get("PORT", "8000"))), Receiver).serve_forever()
`;
