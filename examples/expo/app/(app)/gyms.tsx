import { useTandem } from '@tandem/react'
import type { AddVenueData, Venue } from '@tandem/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { View } from 'react-native'
import { useAttempt } from '../../components/attempt.ts'
import { Button, Field, IconButton } from '../../components/controls.tsx'
import { LoadingFitMatch } from '../../components/join-fitmatch.tsx'
import { ErrorText, Icon, Row, Screen, Section, Text } from '../../components/layout.tsx'
import { useRefresh } from '../../components/refresh.ts'
import { Search } from '../../components/search.tsx'

const queryKey = ['venues']
const MAX_FOUND = 6

type NewVenue = AddVenueData['body']

/** Where the person trains, as their FitMatch profile shows it. */
export default function Gyms () {
  const tandem = useTandem()
  const refresh = useRefresh()
  const { attempt, error } = useAttempt()
  const query = useQuery({ queryKey, queryFn: async ({ signal }) => (await tandem.listVenues({ signal })).data })
  if (!query.data) {
    return (
      <Screen>
        <LoadingFitMatch of={query} />
      </Screen>
    )
  }
  const { venues, maxVenues } = query.data
  const change = async (work: () => Promise<unknown>) => {
    await work()
    await refresh(queryKey)
  }
  return (
    <Screen>
      <Section title='Your gyms'>
        {venues.length === 0 && <Text tone='soft'>Add the gym you go to. People who train there too come first.</Text>}
        {venues.map(({ id, name, branch, city }) => (
          <Row key={id}>
            <Icon name='location-outline' />
            <View style={{ flex: 1 }}>
              <Text bold>{name}</Text>
              <Text tone='soft' size={14}>{[branch, city].filter(Boolean).join(' · ') || 'Added by you'}</Text>
            </View>
            <IconButton
              icon='close'
              label={`Remove ${name}`}
              onPress={() => void attempt(async () => await change(() => tandem.deleteVenue({ query: { id } })))}
            />
          </Row>
        ))}
        {error !== '' && <ErrorText>{error}</ErrorText>}
      </Section>
      {venues.length < maxVenues
        ? <AddGym mine={venues} onAdd={async (venue) => await change(() => tandem.addVenue({ body: venue }))} />
        : <Text tone='soft'>{`You have ${maxVenues} gyms, the most there can be. Remove one to add another.`}</Text>}
    </Screen>
  )
}

function AddGym ({ mine, onAdd }: { mine: Venue[], onAdd: (venue: NewVenue) => Promise<void> }) {
  const tandem = useTandem()
  const [chain, setChain] = useState<{ id: string, name: string }>()
  const { attempt, error } = useAttempt()
  if (chain) {
    return (
      <Branch
        chain={chain}
        onAdd={async (venue) => {
          await onAdd(venue)
          setChain(undefined)
        }}
        onCancel={() => setChain(undefined)}
      />
    )
  }
  return (
    <Section title='Add a gym'>
      <Search
        label='Find a gym'
        queryKey={['gyms']}
        // Without a position, the search is around that of the profile.
        search={async (query, signal) => {
          const [near, known] = await Promise.all([
            tandem.searchGyms({ query: { query, radiusKm: 25 }, signal }),
            tandem.listGymChains({ query: { query }, signal })
          ])
          return { ...near.data, chains: known.data.chains }
        }}
        footerOf={({ attribution }) => attribution}
        resultsOf={({ venues, chains }, text) => [
          ...venues.filter(({ placeId }) => !mine.some((each) => each.placeId === placeId)).slice(0, MAX_FOUND)
            .map(({ placeId, name, city }) => ({
              key: placeId,
              title: name,
              detail: city ?? 'Near you',
              choose: () => void attempt(async () => await onAdd({ placeId, name }))
            })),
          ...chains.slice(0, 3).map((found) => ({
            key: found.id,
            title: found.name,
            detail: 'A chain: choose its branch',
            choose: () => setChain(found)
          })),
          {
            key: 'own',
            title: `Add “${text}”`,
            detail: 'A place of your own, such as a park',
            choose: () => void attempt(async () => await onAdd({ name: text, isCustom: true }))
          }
        ]}
      />
      {error !== '' && <ErrorText>{error}</ErrorText>}
    </Section>
  )
}

function Branch (
  { chain, onAdd, onCancel }: {
    chain: { id: string, name: string },
    onAdd: (venue: NewVenue) => Promise<void>,
    onCancel: () => void
  }
) {
  const [branch, setBranch] = useState('')
  const [city, setCity] = useState('')
  const isComplete = branch.trim() !== '' && city.trim() !== ''
  return (
    <Section title={chain.name}>
      <Text tone='soft'>People of the same branch see that you both train there.</Text>
      <Field label='Branch' value={branch} onChangeText={setBranch} maxLength={100} />
      <Field label='City' value={city} onChangeText={setCity} maxLength={100} />
      <Button
        title='Add this gym'
        kind='primary'
        isDisabled={!isComplete}
        onPress={async () =>
          await onAdd({ name: chain.name, chainId: chain.id, branch: branch.trim(), city: city.trim() })}
      />
      <Button title='Another gym' onPress={onCancel} />
    </Section>
  )
}
