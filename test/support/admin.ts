import { signUp, type UserFields } from './api.js';
import type { TestDatabase } from './database.js';

/** Signs somebody up and makes an administrator of them in the database: the session at hand has the role at once. */
export async function signUpAdmin(
  { db, url }: { db: Pick<TestDatabase, 'pool'>; url: string },
  input?: Parameters<typeof signUp>[1],
): Promise<{ token: string; user: UserFields }> {
  const admin = await signUp(url, input);
  await db.pool.query(`update accounts set role = 'admin' where id = $1`, [admin.user.id]);
  return admin;
}
