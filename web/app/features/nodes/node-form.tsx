import { TextInput } from '@mantine/core';
import { z } from 'zod';
import { createNodeInput } from '../../../../src/services/nodes/nodes.inputs';
import type { NodeRowFragment } from '../../../generated/graphql';
import { schemaErrors } from '../../ui/form-errors';
import { trimmedDecimal } from '../../ui/money-text';
import classes from './nodes.module.css';

/** The fields of a node's form, as typed. */
export const nodeFields = z.object({
  name: z.string(),
  provider: z.string(),
  region: z.string(),
  gpuType: z.string(),
  hourlyCostUsd: z.string(),
  endpointUrl: z.string(),
});
export type NodeFields = z.infer<typeof nodeFields>;

/** The form of a new node. */
export const NO_FIELDS: NodeFields = {
  name: '',
  provider: '',
  region: '',
  gpuType: '',
  hourlyCostUsd: '',
  endpointUrl: '',
};

/** The form of an existing node. */
export const fieldsOf = ({ hourlyCostUsd, ...node }: NodeRowFragment): NodeFields =>
  nodeFields.parse({ ...node, hourlyCostUsd: trimmedDecimal(hourlyCostUsd) });

const check = schemaErrors(createNodeInput);

/** The errors of a form, by the field names of REST. */
export const faultsOf = (fields: NodeFields): Record<string, string> =>
  check({
    name: fields.name,
    provider: fields.provider,
    region: fields.region,
    gpu_type: fields.gpuType,
    hourly_cost_usd: fields.hourlyCostUsd.trim(),
    endpoint_url: fields.endpointUrl.trim(),
  });

/** The form as input of a mutation. */
export const nodeInput = (fields: NodeFields): NodeFields => ({
  ...fields,
  hourlyCostUsd: fields.hourlyCostUsd.trim(),
  endpointUrl: fields.endpointUrl.trim(),
});

interface NodeFormFieldsProps {
  fields: NodeFields;
  faults: Record<string, string>;
  /** The fields are being sent: text that is typed now would be lost with the answer. */
  sending: boolean;
  onChange(fields: NodeFields): void;
}

/** The settings of a node. */
export function NodeFormFields({ fields, faults, sending, onChange }: NodeFormFieldsProps) {
  const of = (name: keyof NodeFields, remote: string) => ({
    value: fields[name],
    error: faults[remote],
    readOnly: sending,
    autoComplete: 'off',
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ ...fields, [name]: currentTarget.value }),
  });
  return (
    <>
      <TextInput label="Name" description="Your name for the machine" {...of('name', 'name')} />
      <TextInput
        label="Address"
        description="Host and port as in api_base of its deployments, such as http://10.0.0.5:8000"
        inputMode="url"
        {...of('endpointUrl', 'endpoint_url')}
      />
      <div className={classes.pair}>
        <TextInput label="GPU type" placeholder="H100" {...of('gpuType', 'gpu_type')} />
        <TextInput label="Region" placeholder="eu-1" {...of('region', 'region')} />
        <TextInput label="Provider" {...of('provider', 'provider')} />
        <TextInput
          label="Cost per hour"
          leftSection="$"
          inputMode="decimal"
          {...of('hourlyCostUsd', 'hourly_cost_usd')}
        />
      </div>
    </>
  );
}
