import { useEffect, useRef } from 'react';

/** The path of the last page title, and whether a title has taken the focus in this visit. */
let shownPath: string | undefined;
let tookFocus = false;

/**
 * The title of a page. After navigation it takes the focus, so that users of screen readers know where they are; on the first page
 * of a visit, the focus stays where the browser puts it.
 */
export function PageTitle({ children }: { children: string }) {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} · Inference gateway`;
  }, [children]);
  // Only for a new page: a title that changes later leaves the focus alone. So does one that replaces the title of the same page,
  // unless that had the focus.
  useEffect(() => {
    const { pathname } = window.location;
    const isNewPage = shownPath !== undefined && shownPath !== pathname;
    if (isNewPage || (tookFocus && document.activeElement === document.body)) {
      element.current?.focus();
      tookFocus = true;
    }
    shownPath = pathname;
    // Removes the document's outline, whose title would be found twice.
    document.querySelector('.shell')?.remove();
  }, []);
  return (
    <h1 ref={element} tabIndex={-1}>
      {children}
    </h1>
  );
}
