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
 * Downloads a file of the account that the page shows. Unlike other requests, a link can't name the account: so the page first checks
 * that the cookie is still of this account, then follows the link.
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
      // The middle button would open a tab.
      onAuxClick={(event) => void (event.button === 1 && follow(event))}
    >
      {children}
    </Button>
  );
}
