/** A link to how receivers verify our deliveries. */
export function Verifying() {
  return (
    <p>
      Every delivery is signed with this secret. See <a href="/docs/webhooks">how to verify deliveries</a>,
      with examples in Node and Python.
    </p>
  );
}
