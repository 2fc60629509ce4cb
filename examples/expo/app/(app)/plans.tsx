import { keys, useTandem } from '@tandem/react'
import type { Activity } from '@tandem/sdk'
import { useQuery } from '@tanstack/react-query'
import { useRouter } from 'expo-router'
import { View } from 'react-native'
import { Button } from '../../components/controls.tsx'
import { LoadingFitMatch } from '../../components/join-fitmatch.tsx'
import { Avatar, Row, Screen, Section, Text } from '../../components/layout.tsx'
import { PlanDetails } from '../../components/plans.tsx'
import { useRefresh } from '../../components/refresh.ts'
import { Empty } from '../../components/states.tsx'

const queryKey = ['plans']

/** What the person goes to, and the invitations that they can answer. */
export default function Plans () {
  const tandem = useTandem()
  const router = useRouter()
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => {
      const [invited, upcoming] = await Promise.all([
        tandem.listActivities({ query: { filter: 'invitations' }, signal }),
        tandem.listActivities({ query: { filter: 'upcoming' }, signal })
      ])
      return {
        invited: invited.data.activities.filter(({ myState }) => myState === 'INVITED'),
        upcoming: upcoming.data.activities.filter(({ myState, isHost }) => isHost || myState === 'GOING')
      }
    }
  })
  if (!query.data) {
    return (
      <Screen>
        <LoadingFitMatch of={query} />
      </Screen>
    )
  }
  const { invited, upcoming } = query.data
  return (
    <Screen>
      <Button title='Plan something' kind='primary' onPress={() => router.push('/new-plan')} />
      {invited.length > 0 && (
        <Section title='Invitations'>
          {invited.map((activity) => <Invitation key={activity.id} activity={activity} />)}
        </Section>
      )}
      <Section title='You go to'>
        {upcoming.length === 0 && (
          <Empty icon='calendar-outline' title='No plans yet'>Invite somebody to train with you.</Empty>
        )}
        {upcoming.map((activity) => (
          <View key={activity.id} role='group' aria-label={activity.title}>
            <PlanDetails plan={activity} />
            <Text tone='soft' size={14}>
              {`${activity.isHost ? 'Yours · ' : ''}${activity.goingCount} of ${activity.capacity} going`}
            </Text>
          </View>
        ))}
      </Section>
    </Screen>
  )
}

function Invitation ({ activity }: { activity: Activity }) {
  const tandem = useTandem()
  const refresh = useRefresh()
  const { id, title, host, note, version, participants } = activity
  const answer = async (accept: boolean) => {
    // With the version on the screen: nobody agrees to a time or a place that they have not seen.
    await tandem.respondToInvitation({ path: { id }, body: { accept, version } })
      .finally(async () => await refresh(queryKey, keys.home))
  }
  // Of an invited person, the list has their own entry only.
  const hasChanged = participants.some(({ state, wasGoing }) => state === 'INVITED' && wasGoing)
  return (
    <View role='group' aria-label={title} style={{ gap: 10 }}>
      <Row>
        <Avatar name={host?.displayName ?? null} image={host?.photo ?? null} size={28} />
        <Text tone='soft' style={{ flexShrink: 1 }}>
          {hasChanged ? 'The plan has changed' : `${host?.displayName.split(' ')[0] ?? 'Somebody'} invites you`}
        </Text>
      </Row>
      <PlanDetails plan={activity} />
      {note !== null && <Text tone='soft'>{`“${note}”`}</Text>}
      <Row style={{ alignItems: 'flex-start' }}>
        <Button title='No, thanks' onPress={async () => await answer(false)} />
        <Button title='I am in' kind='primary' onPress={async () => await answer(true)} />
      </Row>
    </View>
  )
}
