import { Button } from '@mantine/core';
import { type MouseEvent, type ReactNode, useRef } from 'react';
import { isSameAccount } from '../session';

interface DownloadButtonProps {
  href: string;
  /** Name of the file. */
  download: string;
  children: ReactNode;
}

/**
 * Downloads a file of the account that the page shows. A link can't name it, as other requests do: so the server is asked first,
 * and the link is followed if the cookie is still of this account.
 */
export function DownloadButton({ href, download, children }: DownloadButtonProps) {
  const isAsked = useRef(false);
  const follow = async (event: MouseEvent<HTMLAnchorElement>): Promise<void> => {
    if (isAsked.current) return;
    event.preventDefault();
    const link = event.currentTarget;
    if (!(await isSameAccount())) return;
    isAsked.current = true;
    link.click();
    isAsked.current = false;
  };
  return (
    <Button
      component="a"
      variant="default"
      href={href}
      download={download}
      onClick={(event) => void follow(event)}
      // The middle button, which would open it in a tab.
      onAuxClick={(event) => void (event.button === 1 && follow(event))}
    >
      {children}
    </Button>
  );
}
