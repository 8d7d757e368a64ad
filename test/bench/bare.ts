import { createServer } from 'node:http';
import { Pool } from 'undici';

/** The minimum of a gateway in Node: node:http in front, undici.request behind. */
const [, , port, upstream] = process.argv;
const pool = new Pool(upstream!, { connections: null, pipelining: 1 });

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    pool
      .request({
        method: 'POST',
        path: request.url!,
        headers: {
          authorization: request.headers.authorization,
          'content-type': request.headers['content-type'],
        },
        body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks),
      })
      .then(({ statusCode, headers, body }) => {
        response.writeHead(statusCode, headers);
        body.on('error', () => response.destroy());
        response.on('close', () => body.destroy());
        body.pipe(response);
      })
      .catch(() => response.destroy());
  });
}).listen(Number(port), '127.0.0.1');
process.on('disconnect', () => process.exit(0));
