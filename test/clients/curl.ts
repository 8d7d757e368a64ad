import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface CurlAnswer {
  /** Of curl; 0 is success. */
  code: number;
  stdout: string;
  /** What `-v` tells. */
  stderr: string;
}

/** Runs the real curl, without anyone's ~/.curlrc. */
export async function curl(args: string[], input: string | Buffer = ''): Promise<CurlAnswer> {
  const child = spawn('curl', ['-q', '--silent', '--show-error', '--max-time', '20', ...args]);
  // curl may stop reading when it has its answer.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? -1));
  });
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}
