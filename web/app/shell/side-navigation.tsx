import { Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Link, useLocation } from '@tanstack/react-router';
import { MenuIcon } from 'lucide-react';
import { Fragment, useEffect, useId, useRef, useState } from 'react';
import classes from './app-layout.module.css';
import { type Destination, navigationFor } from './navigation';
import { useIsAdmin } from './use-is-admin';

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

/** A column on wide screens; on narrow ones a menu, which closes when a page is chosen. */
export function SideNavigation() {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLElement>(null);
  const [opened, setOpened] = useState(false);
  const navigation = navigationFor(useIsAdmin());
  const { pathname } = useLocation();
  const [shownFor, setShownFor] = useState(pathname);
  if (shownFor !== pathname) {
    setShownFor(pathname);
    setOpened(false);
  }
  // For administrators it may be longer than the window.
  useEffect(() => {
    const entry = list.current?.querySelector<HTMLElement>('[aria-current=page]');
    if (entry && pathname) entry.scrollIntoView({ block: 'nearest' });
  }, [pathname]);
  const leave = (): void => {
    if (!opened) return;
    setOpened(false);
    button.current?.focus();
  };
  useHotkeys([['Escape', leave]]);
  return (
    <div className={classes.side}>
      <Button
        ref={button}
        className={classes.menu}
        variant="default"
        leftSection={<MenuIcon size={16} strokeWidth={1.5} />}
        aria-expanded={opened}
        aria-controls={id}
        onClick={() => setOpened(!opened)}
      >
        Menu
      </Button>
      <nav ref={list} id={id} className={classes.nav} data-opened={opened || undefined} aria-label="Pages">
        {navigation.map(({ title = '', destinations }) => (
          <Fragment key={title}>
            {title && <p className={classes.group}>{title}</p>}
            <ul>
              {destinations.map((destination) => (
                <Entry key={destination.label} {...destination} />
              ))}
            </ul>
          </Fragment>
        ))}
      </nav>
    </div>
  );
}
