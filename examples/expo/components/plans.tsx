import type { Activity } from '@tandem/sdk'
import { View } from 'react-native'
import { useFormat } from './format.ts'
import { Icon, Row, Text } from './layout.tsx'

type Planned = Pick<Activity, 'title' | 'date' | 'startTime' | 'endTime' | 'locationName'>

/** When and where a plan is. */
export function PlanDetails ({ plan: { title, date, startTime, endTime, locationName } }: { plan: Planned }) {
  const format = useFormat()
  return (
    <View>
      <Text bold>{title}</Text>
      <Text tone='soft' size={14}>{`${format.day(date)}, ${startTime}–${endTime}`}</Text>
      {locationName !== null && locationName !== '' && (
        <Row style={{ gap: 4 }}>
          <Icon name='location-outline' size={16} />
          <Text tone='soft' size={14}>{locationName}</Text>
        </Row>
      )}
    </View>
  )
}
