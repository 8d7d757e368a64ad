/** Where somebody reads how to tell a delivery of ours from another's. */
export function Verifying() {
  return (
    <p>
      Every delivery is signed with it. <a href="/docs/webhooks">How to verify a delivery</a>, with receivers
      in Node and Python.
    </p>
  );
}
