import { useEffect, useRef } from 'react';

let navigated = false;

/**
 * The one title of a page. After navigation it takes the focus, so that whoever doesn't see the page knows where they
 * are; on the first page of a visit the focus stays where the browser puts it.
 */
export function PageTitle({ children }: { children: string }) {
  const element = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${children} · Inference gateway`;
  }, [children]);
  // Only of a page that has just come: a title that changes while somebody works leaves the focus where it is.
  useEffect(() => {
    if (navigated) element.current?.focus();
    navigated = true;
  }, []);
  return (
    <h1 ref={element} tabIndex={-1}>
      {children}
    </h1>
  );
}
