import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Waiting } from './waiting';

/** The share of the placeholder that must be in sight. */
const SEEN_SHARE = 0.25;

interface WhenSeenProps {
  /** The height to reserve. */
  height: number;
  children: ReactNode;
}

/** Renders expensive content once it is scrolled into view; until then reserves its place. */
export function WhenSeen({ height, children }: WhenSeenProps) {
  const place = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (seen) return;
    const observer = new IntersectionObserver(
      (entries) => setSeen(entries.some(({ isIntersecting }) => isIntersecting)),
      { threshold: SEEN_SHARE },
    );
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, [seen]);
  return (
    <div ref={place} style={{ minHeight: height }}>
      {seen ? children : <Waiting height={height} />}
    </div>
  );
}
