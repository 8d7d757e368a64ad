import { Arg, Args, Ctx, FieldResolver, Mutation, Resolver } from 'type-graphql';
import {
  createWidgetInput,
  updateWidgetInput,
  widgetUsageInput,
} from '../../services/widgets/widgets.inputs.js';
import { MAX_WIDGETS } from '../../services/widgets/widgets.rules.js';
import { Allow } from '../access.js';
import { Viewer } from '../accounts/accounts.types.js';
import { camelCased } from '../case.js';
import type { GraphqlContext } from '../context.js';
import { checked } from '../input.js';
import {
  CreateWidgetInput,
  DeleteWidgetInput,
  RotateWidgetKeyInput,
  UpdateWidgetInput,
  WidgetArgs,
  WidgetUsageArgs,
} from './widgets.args.js';
import {
  CreateWidgetPayload,
  DeleteWidgetPayload,
  RotateWidgetKeyPayload,
  UpdateWidgetPayload,
  Widget,
  WidgetUsage,
} from './widgets.types.js';

/** Mutations of chat widgets. */
@Resolver()
export class WidgetsResolver {
  @Allow('session')
  @Mutation(() => CreateWidgetPayload, {
    description: 'Creates a chat widget for web pages. At most 50 widgets per account.',
  })
  async createWidget(
    @Arg('input', { description: 'The widget.' }) input: CreateWidgetInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<CreateWidgetPayload> {
    return { widget: camelCased(await services.widgets.create(service, checked(createWidgetInput, input))) };
  }

  @Allow('session')
  @Mutation(() => UpdateWidgetPayload, { description: 'Updates the given fields of a widget.' })
  async updateWidget(
    @Arg('input', { description: 'The widget and its changes.' }) { id, ...changes }: UpdateWidgetInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<UpdateWidgetPayload> {
    const input = checked(updateWidgetInput, changes);
    return { widget: camelCased(await services.widgets.update(service, { ...input, id })) };
  }

  @Allow('session')
  @Mutation(() => RotateWidgetKeyPayload, {
    description:
      'Gives a widget a new public key. The old key stops working immediately: pages need the new one.',
  })
  async rotateWidgetKey(
    @Arg('input', { description: 'The widget.' }) { id }: RotateWidgetKeyInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<RotateWidgetKeyPayload> {
    return { widget: camelCased(await services.widgets.rotateKey(service, { id })) };
  }

  @Allow('session')
  @Mutation(() => DeleteWidgetPayload, {
    description: 'Deletes a widget. Chats with it are rejected immediately. Its usage stays.',
  })
  async deleteWidget(
    @Arg('input', { description: 'The widget.' }) { id }: DeleteWidgetInput,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<DeleteWidgetPayload> {
    await services.widgets.remove(service, { id });
    return { deletedWidgetId: id };
  }
}

/** Chat widgets of the signed-in account. */
@Resolver(() => Viewer)
export class ViewerWidgetsResolver {
  @FieldResolver(() => [Widget], {
    description: 'Chat widgets of the account, newest first.',
    complexity: ({ childComplexity }) => 1 + MAX_WIDGETS * childComplexity,
  })
  async widgets(@Ctx() { services, service }: GraphqlContext): Promise<Widget[]> {
    return camelCased(await services.widgets.list(service, { limit: MAX_WIDGETS, offset: 0 }));
  }

  @FieldResolver(() => Widget, { nullable: true, description: 'One chat widget of the account.' })
  async widget(@Args() { id }: WidgetArgs, @Ctx() { services, service }: GraphqlContext): Promise<Widget> {
    return camelCased(await services.widgets.get(service, { id }));
  }

  @FieldResolver(() => WidgetUsage, {
    nullable: true,
    description: 'Usage of a chat widget in a window of UTC days.',
    complexity: ({ childComplexity }) => 10 + 2 * childComplexity,
  })
  async widgetUsage(
    @Args() { id, ...window }: WidgetUsageArgs,
    @Ctx() { services, service }: GraphqlContext,
  ): Promise<WidgetUsage> {
    const input = checked(widgetUsageInput, window);
    return camelCased(await services.widgets.usage(service, { ...input, id }));
  }
}
