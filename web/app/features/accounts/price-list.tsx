import { useQuery } from 'urql';
import { PricesDocument, type PricesQuery } from '../../../generated/graphql';
import { Money } from '../../ui/money';
import { SimulatedMark, SimulatedModels } from '../../ui/simulated';
import { Waiting } from '../../ui/waiting';
import classes from './entry.module.css';

/** The catalog has six models; placeholders reserve their rows while the list loads. */
const EXPECTED_ROWS = 6;

/** The cheapest plan that has a model; plans come cheapest first. */
const planOf = (plans: PricesQuery['plans'], model: string): string | undefined =>
  plans?.find(({ allowedModels }) => allowedModels.includes(model))?.name;

/** The prices of calls, shown beside the sign-up form. */
export function PriceList() {
  const [{ data, error }] = useQuery({ query: PricesDocument });
  // The page is for the form: if the prices can't be loaded, only the form is shown.
  if (error) return null;
  return (
    <section className={classes.prices} aria-labelledby="prices">
      <h2 id="prices">Prices</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">US dollars per million tokens</th>
            <th scope="col">Plan</th>
            <th scope="col" className={classes.figure}>
              Input
            </th>
            <th scope="col" className={classes.figure}>
              Output
            </th>
          </tr>
        </thead>
        <tbody>
          <SimulatedModels value={data?.installation?.simulatedModels ?? []}>
            {data?.models
              ? data.models.map((model) => (
                  <tr key={model.modelPublicName}>
                    <th scope="row">
                      {model.modelPublicName}
                      <SimulatedMark model={model.modelPublicName} />
                    </th>
                    <td>{planOf(data.plans, model.modelPublicName) ?? '–'}</td>
                    <td className={classes.figure}>
                      <Money usd={model.inputPricePerMillionUsd} />
                    </td>
                    <td className={classes.figure}>
                      {/* An embedding has no output. */}
                      {model.family === 'embedding' ? '–' : <Money usd={model.outputPricePerMillionUsd} />}
                    </td>
                  </tr>
                ))
              : Array.from({ length: EXPECTED_ROWS }, (_, row) => (
                  <tr key={row}>
                    <td colSpan={4}>
                      <Waiting />
                    </td>
                  </tr>
                ))}
          </SimulatedModels>
        </tbody>
      </table>
      <p className={classes.note}>
        Cost = tokens × price, exact to the last digit. Failed calls are free. New accounts start on the free
        plan.
      </p>
    </section>
  );
}
