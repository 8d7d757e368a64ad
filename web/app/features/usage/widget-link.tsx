import { Link } from '@tanstack/react-router';
import type { UsageRowFragment } from '../../../generated/graphql';
import { paths } from '../../paths';

/** The widget that made a call, by name, leading to its page. */
export function WidgetLink({ widget }: Pick<UsageRowFragment, 'widget'>) {
  if (!widget) return 'deleted';
  return (
    <Link to={paths.widget} params={{ widgetId: widget.id }}>
      {widget.name}
    </Link>
  );
}
