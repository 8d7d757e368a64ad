import { Link } from '@tanstack/react-router';
import type { UsageRowFragment } from '../../../generated/graphql';
import { paths } from '../../paths';

/** The name of the widget that made a call, linked to its page. */
export function WidgetLink({ widget }: Pick<UsageRowFragment, 'widget'>) {
  if (!widget) return 'deleted';
  return (
    <Link to={paths.widget} params={{ widgetId: widget.id }}>
      {widget.name}
    </Link>
  );
}
