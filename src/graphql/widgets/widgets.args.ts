import { ArgsType, ID, InputType } from 'type-graphql';
import { z } from 'zod';
import { uuid } from '../../lib/output-fields.js';
import {
  createWidgetInput,
  expectedWidgetInput,
  updateWidgetInput,
  widgetThemeInput,
  widgetUsageInput,
} from '../../services/widgets/widgets.inputs.js';
import { Decimal } from '../scalars.js';
import { inputFields } from '../zod-fields.js';

const widgetId = z.object({ id: uuid('Widget ID.') });

@ArgsType()
export class WidgetArgs extends inputFields(widgetId) {}

@ArgsType()
export class WidgetUsageArgs extends inputFields(widgetId.extend(widgetUsageInput.shape)) {}

@InputType({ description: widgetThemeInput.description })
class WidgetThemeInput extends inputFields(widgetThemeInput, { primary: String, position: String }) {}

const TYPES = {
  promptId: ID,
  theme: WidgetThemeInput,
  allowedDomains: [String],
  monthlyLimitUsd: Decimal,
};

@InputType({ description: createWidgetInput.description })
export class CreateWidgetInput extends inputFields(createWidgetInput, TYPES) {}

@InputType({ description: expectedWidgetInput.description })
class ExpectedWidgetInput extends inputFields(expectedWidgetInput, TYPES) {}

@InputType({ description: 'A widget and what to change of it. Omitted fields keep their value.' })
export class UpdateWidgetInput extends inputFields(widgetId.extend(updateWidgetInput.shape), {
  ...TYPES,
  expected: ExpectedWidgetInput,
}) {}

@InputType({ description: 'The widget whose key to rotate.' })
export class RotateWidgetKeyInput extends inputFields(widgetId) {}

@InputType({ description: 'The widget to delete.' })
export class DeleteWidgetInput extends inputFields(widgetId) {}
