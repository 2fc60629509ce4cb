import type { TrendPoint } from '@tandem/sdk'
import { View } from 'react-native'
import { useFormat } from './format.ts'
import { Row, Text } from './layout.tsx'
import { Empty } from './states.tsx'
import { useTheme } from './theme.ts'

const HEIGHT = 180
const LEFT = 52
const TICK = 16
const DOT = 6

type Kind = 'bars' | 'dots'

/** Bars begin at zero; dots show what changes. A day without a value is a gap. */
export function Chart ({ points, unit, kind }: { points: TrendPoint[], unit: string, kind: Kind }) {
  const theme = useTheme()
  const format = useFormat()
  const values = points.flatMap(({ value }) => value ?? [])
  if (values.length === 0) {
    return <Empty icon='stats-chart-outline' title='Nothing yet'>Import a file below, or connect your phone.</Empty>
  }
  const top = Math.max(...values) * (kind === 'bars' ? 1.05 : 1.01) || 1
  const base = kind === 'bars' ? 0 : Math.min(...values) * 0.99
  const heightOf = (value: number) => HEIGHT * (value - base) / (top - base)
  const average = values.reduce((sum, value) => sum + value, 0) / values.length
  const summary = `${format.number(average >= 100 ? Math.round(average) : average)} ${unit} on average`
  return (
    <View style={{ gap: 6 }}>
      <Text bold>{summary}</Text>
      <View role='img' aria-label={`${values.length} values, ${summary}`} style={{ height: HEIGHT, marginTop: 10 }}>
        {[base, base + (top - base) / 2, top].map((tick) => (
          <Row
            key={tick}
            style={{ position: 'absolute', bottom: heightOf(tick) - TICK / 2, width: '100%', height: TICK }}
          >
            <Text tone='soft' size={12} style={{ width: LEFT - 10, textAlign: 'right' }}>
              {format.number(Math.round(tick))}
            </Text>
            <View style={{ flex: 1, height: 1, backgroundColor: theme.line }} />
          </Row>
        ))}
        <Row style={{ height: HEIGHT, gap: 0, alignItems: 'flex-end', marginLeft: LEFT }}>
          {points.map(({ date, value }) => (
            <View key={date} style={{ flex: 1, alignItems: 'center' }}>
              {value !== null && <Mark kind={kind} height={heightOf(value)} />}
            </View>
          ))}
        </Row>
      </View>
      <Row style={{ justifyContent: 'space-between', marginLeft: LEFT, marginTop: 4 }}>
        {[points[0], points.at(-1)].map((point, end) => (
          <Text key={end} tone='soft' size={12}>{point ? format.day(point.date) : ''}</Text>
        ))}
      </Row>
    </View>
  )
}

function Mark ({ kind, height }: { kind: Kind, height: number }) {
  const theme = useTheme()
  const style = kind === 'bars'
    ? { width: '70%', height: Math.max(1, height), borderTopLeftRadius: 3, borderTopRightRadius: 3 } as const
    : { width: DOT, height: DOT, borderRadius: DOT, marginBottom: height - DOT / 2 }
  return <View style={[{ backgroundColor: theme.accent }, style]} />
}
