import { keys, useTandem } from '@tandem/react'
import { TandemError, type Candidate, type NewMatch, type SwipeLimits } from '@tandem/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'expo-router'
import { useState } from 'react'
import { CandidateCard } from '../../../components/candidate.tsx'
import { Button, Chip, IconButton } from '../../../components/controls.tsx'
import { messageOf } from '../../../components/errors.ts'
import { LoadingFitMatch } from '../../../components/join-fitmatch.tsx'
import { Avatar, Card, ErrorText, Row, Screen, Text } from '../../../components/layout.tsx'
import { useRefresh } from '../../../components/refresh.ts'
import { Empty, Loading } from '../../../components/states.tsx'

const queryKey = ['discover']

interface Deck {
  profiles: Candidate[]
  limits: SwipeLimits
}

export default function Discover () {
  const tandem = useTandem()
  const client = useQueryClient()
  const refresh = useRefresh()
  const router = useRouter()
  const [match, setMatch] = useState<NewMatch>()
  const [error, setError] = useState('')
  const query = useQuery<Deck>({
    queryKey,
    queryFn: async ({ signal }) => (await tandem.discoverPeople({ query: { limit: 10 }, signal })).data
  })
  const swipe = async (candidate: Candidate, swipeType: 'PASS' | 'WORKOUT_BUDDY') => {
    setError('')
    try {
      const { data } = await tandem.swipe({ body: { targetProfileId: candidate.id, swipeType } })
      client.setQueryData<Deck>(queryKey, (known) =>
        known && {
          profiles: known.profiles.filter(({ id }) => id !== candidate.id),
          limits: { ...known.limits, remaining: data.remaining }
        })
      setMatch(data.match)
      await refresh(
        ...data.match ? [keys.chats, keys.home] : [],
        ...query.data?.profiles.length === 1 ? [queryKey] : []
      )
    } catch (error) {
      setError(messageOf(error))
      if (!(error instanceof TandemError)) return
      if (error.code === 'LIMIT_EXCEEDED') router.push('/paywall')
      // They are not there any more.
      if (error.status === 404) await refresh(queryKey)
    }
  }
  if (match) return <Matched match={match} onClose={() => setMatch(undefined)} />
  const [candidate] = query.data?.profiles ?? []
  return (
    <Screen title='Discover' action={<Tools limits={query.data?.limits} />}>
      {!query.data && <LoadingFitMatch of={query} />}
      {query.data && !candidate && (query.isFetching
        ? <Loading />
        : <Empty icon='flash-outline' title='That is everybody'>New people arrive every day.</Empty>)}
      {error !== '' && <ErrorText>{error}</ErrorText>}
      {candidate && <CandidateCard key={candidate.id} candidate={candidate} onSwipe={swipe} />}
    </Screen>
  )
}

function Tools ({ limits }: { limits: SwipeLimits | undefined }) {
  const router = useRouter()
  return (
    <Row style={{ gap: 4 }}>
      {limits && (
        <Chip
          title={`${limits.unlimited ? '∞' : limits.remaining} swipes`}
          isChosen={false}
          onPress={() => router.push('/paywall')}
        />
      )}
      <IconButton icon='location-outline' label='Gyms' onPress={() => router.push('/gyms')} />
      <IconButton icon='shield-checkmark-outline' label='Safety' onPress={() => router.push('/safety')} />
    </Row>
  )
}

function Matched ({ match: { matchId, matchedProfile }, onClose }: { match: NewMatch, onClose: () => void }) {
  const router = useRouter()
  const { displayName, photo } = matchedProfile
  const name = displayName.split(' ')[0] ?? displayName
  return (
    <Screen>
      <Card style={{ alignItems: 'stretch', marginTop: 60 }}>
        <Row style={{ justifyContent: 'center' }}>
          <Avatar name={displayName} image={photo} size={140} />
        </Row>
        <Text size={28} bold role='heading' style={{ textAlign: 'center' }}>It’s a match!</Text>
        <Text style={{ textAlign: 'center' }}>{`You and ${name} want to train together.`}</Text>
        <Button
          title='Say hello'
          kind='primary'
          onPress={() => {
            onClose()
            router.push({ pathname: '/chat/[id]', params: { id: matchId } })
          }}
        />
        <Button title='Keep swiping' onPress={onClose} />
      </Card>
    </Screen>
  )
}
