import { useEffect, useRef } from 'react';

/** The page whose title was shown last, and whether one has taken the focus in this visit. */
let shownPath: string | undefined;
let tookFocus = false;

/**
 * The one title of a page. After navigation it takes the focus, so that whoever doesn't see the page knows where they
 * are; on the first page of a visit the focus stays where the browser puts it.
 */
export function PageTitle({ children }: { children: string }) {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} · Inference gateway`;
  }, [children]);
  // Only of a page that has just come: a title that changes while somebody works leaves the focus where it is. So does one that
  // replaces that of the same page, unless it had the focus.
  useEffect(() => {
    const { pathname } = window.location;
    const isNewPage = shownPath !== undefined && shownPath !== pathname;
    if (isNewPage || (tookFocus && document.activeElement === document.body)) {
      element.current?.focus();
      tookFocus = true;
    }
    shownPath = pathname;
    // The page is there: its outline, which the document began with, would be found twice.
    document.querySelector('.shell')?.remove();
  }, []);
  return (
    <h1 ref={element} tabIndex={-1}>
      {children}
    </h1>
  );
}
