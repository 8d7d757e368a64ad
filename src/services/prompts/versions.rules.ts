import { AppError } from '../../errors.js';
import { ofWholeInput } from '../../lib/field-issues.js';
import { placeholderNames } from './placeholders.rules.js';
import type {
  PromptDiffOutput,
  PromptVariableOutput,
  PromptVersionOutput,
  RenderedPromptOutput,
} from './prompts.outputs.js';
import { MAX_RENDERED_BYTES } from './prompts.rules.js';
import { render } from './render.rules.js';

/**
 * Renders a version.
 * @throws AppError `missing_variables` with all names, `validation_error` when the result is too large
 */
export function fill(
  { id, version, content, variables }: PromptVersionOutput,
  values: ReadonlyMap<string, string>,
): RenderedPromptOutput {
  const defaults = new Map(
    variables.flatMap(({ name, default: value }) => (value === null ? [] : [[name, value] as const])),
  );
  const rendering = render({ content, values, defaults, maxBytes: MAX_RENDERED_BYTES });
  if (rendering.kind === 'missing') {
    const { names } = rendering;
    const message = `Required variables are missing: ${names.join(', ')}.`;
    throw new AppError('missing_variables', {
      message,
      details: names.map((name) => ({ field: `variables.${name}`, message: 'is required' })),
    });
  }
  if (rendering.kind === 'too large') {
    const message = `The rendered prompt is larger than ${MAX_RENDERED_BYTES} bytes.`;
    throw new AppError('validation_error', { message, details: ofWholeInput(message) });
  }
  const used = new Set(placeholderNames(content));
  return {
    rendered_content: rendering.text,
    version_used: version,
    prompt_version_id: id,
    unused_variables: [...values.keys()].filter((name) => !used.has(name)),
  };
}

/** The declarations that differ. */
export function changedVariables(
  from: readonly PromptVariableOutput[],
  to: readonly PromptVariableOutput[],
): Pick<PromptDiffOutput, 'added_variables' | 'removed_variables' | 'changed_variables'> {
  const before = new Map(from.map((variable) => [variable.name, variable]));
  const after = new Map(to.map((variable) => [variable.name, variable]));
  const isOther = (one: PromptVariableOutput): boolean => {
    const other = before.get(one.name);
    return other !== undefined && (other.default !== one.default || other.description !== one.description);
  };
  return {
    added_variables: to.flatMap(({ name }) => (before.has(name) ? [] : [name])),
    removed_variables: from.flatMap(({ name }) => (after.has(name) ? [] : [name])),
    changed_variables: to.filter(isOther).map(({ name }) => name),
  };
}
