import { useClickOutside } from '@mantine/hooks';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import classes from './menu.module.css';

/** Props for the button of a menu. */
export interface MenuButton {
  'aria-haspopup': 'menu';
  'aria-expanded': boolean;
  'aria-controls': string;
  onClick(): void;
}

interface MenuProps {
  /** Renders the button. */
  button(of: MenuButton): ReactNode;
  /** Above the items. */
  head?: ReactNode;
  /** Renders links and buttons with the given class and role. */
  items(of: { role: 'menuitem'; className: string; tabIndex: -1; onClick(): void }): ReactNode;
}

/** The index of the item that a key moves to. */
function placeFor(key: string, now: number, count: number): number | undefined {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  if (key === 'ArrowDown') return (now + 1) % count;
  return key === 'ArrowUp' ? (now + count - 1) % count : undefined;
}

/**
 * A few actions below a button. Arrow keys move between them; Escape, Tab and a click elsewhere close the menu. It stays open if a page
 * that is still loading takes the focus.
 */
export function Menu({ button, head, items }: MenuProps) {
  const id = useId();
  const [opened, setOpened] = useState(false);
  const place = useClickOutside<HTMLDivElement>(() => setOpened(false));
  const list = useRef<HTMLDivElement>(null);
  const entries = (): HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>('[role]') ?? [])];
  useEffect(() => {
    if (opened) entries()[0]?.focus();
  }, [opened]);
  const leave = (): void => {
    setOpened(false);
    place.current?.querySelector('button')?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (!opened) return;
    if (event.key === 'Escape' || event.key === 'Tab') {
      if (event.key === 'Escape') event.preventDefault();
      leave();
      return;
    }
    const all = entries();
    const next = placeFor(event.key, all.indexOf(document.activeElement as HTMLElement), all.length);
    if (next === undefined) return;
    event.preventDefault();
    all[next]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles the keys of the button and the items within
    <div ref={place} className={classes.place} onKeyDown={onKeyDown}>
      {button({
        'aria-haspopup': 'menu',
        'aria-expanded': opened,
        'aria-controls': id,
        onClick: () => setOpened(!opened),
      })}
      {opened && (
        <div className={classes.menu}>
          {head && <p className={classes.head}>{head}</p>}
          <div ref={list} id={id} role="menu">
            {items({
              role: 'menuitem',
              className: classes.item!,
              tabIndex: -1,
              onClick: () => setOpened(false),
            })}
          </div>
        </div>
      )}
    </div>
  );
}
