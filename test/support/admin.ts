import { signUp, type UserFields } from './api.js';
import type { TestDatabase } from './database.js';

/** Signs up an account and makes it an administrator in the database. Its session has the role at once. */
export async function signUpAdmin(
  { db, url }: { db: Pick<TestDatabase, 'pool'>; url: string },
  input?: Parameters<typeof signUp>[1],
): Promise<{ token: string; user: UserFields }> {
  const admin = await signUp(url, input);
  await db.pool.query(`update accounts set role = 'admin' where id = $1`, [admin.user.id]);
  return admin;
}
