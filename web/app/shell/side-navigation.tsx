import { Link, useLocation } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import classes from './app-layout.module.css';
import { type Destination, destinations, developerDestinations } from './navigation';

function Entry({ label, icon: Mark, to, href }: Destination) {
  const content = (
    <>
      <Mark size={18} strokeWidth={1.5} aria-hidden="true" />
      {label}
    </>
  );
  return (
    <li>
      {to === undefined ? (
        <a className={classes.entry} href={href}>
          {content}
        </a>
      ) : (
        <Link
          className={classes.entry}
          to={to}
          activeOptions={{ exact: to === '/dashboard', includeSearch: false }}
        >
          {content}
        </Link>
      )}
    </li>
  );
}

/** The pages: a column on wide screens, a row that scrolls on narrow ones. */
export function SideNavigation() {
  const nav = useRef<HTMLElement>(null);
  const { pathname } = useLocation();
  // The row shows the page where one is. By hand: `scrollIntoView` would move the page as well.
  useEffect(() => {
    const entry = nav.current?.querySelector<HTMLElement>(`a[href="${pathname}"]`);
    if (entry)
      nav.current!.scrollLeft = entry.offsetLeft - (nav.current!.clientWidth - entry.offsetWidth) / 2;
  }, [pathname]);
  return (
    <nav ref={nav} className={classes.nav} aria-label="Pages">
      <ul>
        {destinations.map((destination) => (
          <Entry key={destination.label} {...destination} />
        ))}
      </ul>
      <p className={classes.group}>Developers</p>
      <ul>
        {developerDestinations.map((destination) => (
          <Entry key={destination.label} {...destination} />
        ))}
      </ul>
    </nav>
  );
}
