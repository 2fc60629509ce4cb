import type { TrendPoint } from '@tandem/sdk'
import { View } from 'react-native'
import { useFormat } from './format.ts'
import { Row, Text } from './layout.tsx'
import { Empty } from './states.tsx'
import { useTheme } from './theme.ts'

const HEIGHT = 180
const DOT = 6

/** Bars begin at zero; dots show what changes. A day without a value is a gap. */
export function Chart ({ points, unit, kind }: { points: TrendPoint[], unit: string, kind: 'bars' | 'dots' }) {
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
  const summary = `${format.number(average)} ${unit} on average`
  return (
    <View style={{ gap: 6 }}>
      <Text bold>{summary}</Text>
      <View role='img' aria-label={`${values.length} values, ${summary}`} style={{ height: HEIGHT }}>
        {[base + (top - base) / 2, top].map((tick) => (
          <View
            key={tick}
            style={{
              position: 'absolute',
              bottom: heightOf(tick) - 1,
              width: '100%',
              borderTopWidth: 1,
              borderColor: theme.line
            }}
          >
            <Text tone='soft' size={12}>{format.number(Math.round(tick))}</Text>
          </View>
        ))}
        <Row style={{ height: HEIGHT, gap: 0, alignItems: 'flex-end' }}>
          {points.map(({ date, value }) => (
            <View key={date} style={{ flex: 1, alignItems: 'center' }}>
              {value !== null && (kind === 'bars'
                ? (
                  <View
                    style={{
                      width: '70%',
                      height: Math.max(1, heightOf(value)),
                      borderTopLeftRadius: 3,
                      borderTopRightRadius: 3,
                      backgroundColor: theme.accent
                    }}
                  />
                )
                : (
                  <View
                    style={{
                      width: DOT,
                      height: DOT,
                      borderRadius: DOT,
                      marginBottom: heightOf(value) - DOT / 2,
                      backgroundColor: theme.accent
                    }}
                  />
                ))}
            </View>
          ))}
        </Row>
      </View>
      <Row style={{ justifyContent: 'space-between' }}>
        {[points[0], points.at(-1)].map((point, end) => (
          <Text key={end} tone='soft' size={12}>{point ? format.day(point.date) : ''}</Text>
        ))}
      </Row>
    </View>
  )
}
