import { keys, useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Chart } from '../../components/chart.tsx'
import { Segments } from '../../components/controls.tsx'
import { Imports } from '../../components/imports.tsx'
import { Screen, Section } from '../../components/layout.tsx'
import { Loading } from '../../components/states.tsx'

const metrics = {
  steps: 'Steps',
  activeEnergy: 'Active energy',
  distance: 'Distance',
  sleep: 'Sleep',
  restingHeartRate: 'Resting heart rate',
  weight: 'Weight'
}

const charts: Record<keyof typeof metrics, { unit: string, kind: 'bars' | 'dots' }> = {
  steps: { unit: 'steps', kind: 'bars' },
  activeEnergy: { unit: 'kcal', kind: 'bars' },
  distance: { unit: 'm', kind: 'bars' },
  sleep: { unit: 'min', kind: 'bars' },
  restingHeartRate: { unit: 'bpm', kind: 'dots' },
  weight: { unit: 'kg', kind: 'dots' }
}

const ranges = { '7d': 'Week', '30d': 'Month', '1y': 'Year' }

/** What devices measured, over time, and files of other apps. */
export default function Health () {
  const tandem = useTandem()
  const [metric, setMetric] = useState<keyof typeof metrics>('steps')
  const [range, setRange] = useState<keyof typeof ranges>('30d')
  const query = useQuery({
    queryKey: [...keys.home, 'trend', metric, range],
    queryFn: async ({ signal }) => (await tandem.getTrend({ query: { metric, range }, signal })).data.points
  })
  return (
    <Screen>
      <Section title={metrics[metric]}>
        <Segments options={metrics} value={metric} onChange={setMetric} />
        <Segments options={ranges} value={range} onChange={setRange} />
        {query.data ? <Chart points={query.data} {...charts[metric]} /> : <Loading of={query} />}
      </Section>
      <Imports />
    </Screen>
  )
}
