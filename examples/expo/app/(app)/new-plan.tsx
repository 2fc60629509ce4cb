import { keys, useChats, useTandem } from '@tandem/react'
import { useState } from 'react'
import { useBack } from '../../components/back.ts'
import { Button, Chip, Field } from '../../components/controls.tsx'
import { useDraftHeaders } from '../../components/drafts.ts'
import { dayOf, titleOf } from '../../components/format.ts'
import { LoadingFitMatch } from '../../components/join-fitmatch.tsx'
import { Row, Screen, Section, Text } from '../../components/layout.tsx'
import { useProfile } from '../../components/profile.ts'
import { useRefresh } from '../../components/refresh.ts'

const DAY_MS = 86_400_000
const time = /^([01]\d|2[0-3]):[0-5]\d$/

/** A plan to train together, and who of the matches is invited to it. */
export default function NewPlan () {
  const tandem = useTandem()
  const refresh = useRefresh()
  const back = useBack()
  const headersOf = useDraftHeaders()
  const [sport, setSport] = useState('running')
  const [title, setTitle] = useState('')
  const [date, setDate] = useState(dayOf(new Date(Date.now() + DAY_MS)))
  const [startTime, setStartTime] = useState('18:00')
  const [endTime, setEndTime] = useState('19:00')
  const [locationName, setLocationName] = useState('')
  const [invited, setInvited] = useState<string[]>([])
  const plan = async () => {
    const body = {
      sport,
      date,
      startTime,
      endTime,
      profileIds: invited,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      ...title.trim() !== '' && { title: title.trim() },
      ...locationName.trim() !== '' && { locationName: locationName.trim() }
    }
    await tandem.planActivity({ body, headers: headersOf(body) })
    await refresh(['plans'], keys.home)
    back()
  }
  const isComplete = /^\d{4}-\d\d-\d\d$/.test(date) && time.test(startTime) && time.test(endTime)
  return (
    <Screen>
      <Section title='What and when'>
        <Sports value={sport} onChange={setSport} />
        <Field label='Title' placeholder='Evening run' value={title} onChangeText={setTitle} maxLength={60} />
        <Field label='Day' value={date} onChangeText={setDate} inputMode='numeric' maxLength={10} />
        <Row>
          <Field label='From' value={startTime} onChangeText={setStartTime} maxLength={5} style={{ width: 60 }} />
          <Field label='To' value={endTime} onChangeText={setEndTime} maxLength={5} style={{ width: 60 }} />
        </Row>
        <Field label='Where' placeholder='At the gate' value={locationName} onChangeText={setLocationName} />
      </Section>
      <Guests invited={invited} onChange={setInvited} />
      <Button title='Invite' kind='primary' onPress={plan} isDisabled={!isComplete || invited.length === 0} />
    </Screen>
  )
}

/** The sports of the person's profile. */
function Sports ({ value, onChange }: { value: string, onChange: (sport: string) => void }) {
  const { data: profile } = useProfile()
  const sports = [...new Set(['running', ...profile?.favoriteSports ?? []])]
  return (
    <Row style={{ flexWrap: 'wrap', gap: 8 }}>
      {sports.map((sport) => (
        <Chip
          key={sport}
          title={titleOf(sport)}
          isChosen={sport === value}
          onPress={() => onChange(sport)}
        />
      ))}
    </Row>
  )
}

function Guests ({ invited, onChange }: { invited: string[], onChange: (profileIds: string[]) => void }) {
  const query = useChats()
  const matches = [...query.data?.newMatches ?? [], ...query.data?.conversations ?? []]
  return (
    <Section title='Who'>
      {!query.data && <LoadingFitMatch of={query} />}
      {query.data && matches.length === 0 && (
        <Text tone='soft'>Match with somebody first: then you can invite them.</Text>
      )}
      <Row style={{ flexWrap: 'wrap', gap: 8 }}>
        {matches.map(({ profile: { id, displayName } }) => (
          <Chip
            key={id}
            title={displayName.split(' ')[0] ?? displayName}
            isChosen={invited.includes(id)}
            onPress={() => onChange(invited.includes(id) ? invited.filter((each) => each !== id) : [...invited, id])}
          />
        ))}
      </Row>
    </Section>
  )
}
