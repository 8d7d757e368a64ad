import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Waiting } from './waiting';

/** Of its place, so much must be in sight: who sees only its edge hasn't come to it yet. */
const SEEN_SHARE = 0.25;

interface WhenSeenProps {
  /** What it will take. */
  height: number;
  children: ReactNode;
}

/** What costs much to draw is drawn when somebody has come to it; until then its place is kept. */
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
