import classes from './brand.module.css';

/** The logo, a page of a ledger, and the name. */
export function Brand() {
  return (
    <span className={classes.brand}>
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
        <rect x="2.5" y="1.5" width="15" height="17" rx="1.5" fill="none" stroke="currentColor" />
        <path d="M12.5 1.5v17M5 6h5M5 10h5M5 14h5M14.5 6h1M14.5 10h1M14.5 14h1" stroke="currentColor" />
      </svg>
      Inference gateway
    </span>
  );
}
