import { useTandem } from '@tandem/react'
import { useQuery } from '@tanstack/react-query'
import { View } from 'react-native'
import { useFeature } from '../../components/api.ts'
import { Button } from '../../components/controls.tsx'
import { fileOf, takeSelfie } from '../../components/files.ts'
import { useFormat } from '../../components/format.ts'
import { LoadingFitMatch } from '../../components/join-fitmatch.tsx'
import { Row, Screen, Section, Text } from '../../components/layout.tsx'
import { useRefresh } from '../../components/refresh.ts'
import { contentReasons, personReasons, rejections, reportStates, statuses } from '../../components/safety-texts.ts'
import { Empty, Loading } from '../../components/states.tsx'

/** The verification of one's photos, what came of one's reports, and whom one has blocked. */
export default function Safety () {
  const hasFitMatch = useFeature('fitmatch')
  return (
    <Screen>
      {hasFitMatch && <VerifiedPhotos />}
      <Reports />
      {hasFitMatch && <Blocked />}
    </Screen>
  )
}

function VerifiedPhotos () {
  const tandem = useTandem()
  const query = useQuery({
    queryKey: ['verification'],
    queryFn: async ({ signal }) => (await tandem.getVerification({ signal })).data.verification
  })
  const submit = async () => {
    const selfie = await takeSelfie()
    if (!selfie) return
    const form = new FormData()
    // React Native's FormData takes the description of a file in place of its bytes.
    form.append('photo', fileOf(selfie) as Blob)
    await tandem.submitVerification({ body: { photo: fileOf(selfie) as Blob }, bodySerializer: () => form })
    await query.refetch()
  }
  return (
    <Section title='Verified photos'>
      {!query.data && <LoadingFitMatch of={query} />}
      {query.data && (
        <>
          <Text tone={query.data.status === 'REJECTED' ? 'bad' : 'text'}>
            {[statuses[query.data.status], query.data.reasonCode && rejections[query.data.reasonCode]].filter(Boolean)
              .join(' ')}
          </Text>
          {query.data.reason !== null && <Text tone='soft'>{`“${query.data.reason}”`}</Text>}
          {(query.data.status === 'NONE' || query.data.status === 'REJECTED') && (
            <Button title='Take a selfie' kind='primary' onPress={submit} />
          )}
        </>
      )}
    </Section>
  )
}

function Reports () {
  const tandem = useTandem()
  const hasFitMatch = useFeature('fitmatch')
  const format = useFormat()
  const query = useQuery({
    queryKey: ['reports'],
    queryFn: async ({ signal }) => {
      const [people, contents] = await Promise.all([
        hasFitMatch ? tandem.listMyReports({ signal }) : undefined,
        tandem.listMyContentReports({ signal })
      ])
      return [
        ...people?.data.reports.map((each) => ({ ...each, title: personReasons[each.reason] })) ?? [],
        ...contents.data.reports.map((each) => ({
          ...each,
          title: contentReasons[each.reason],
          state: each.outcome ?? 'OPEN' as const
        }))
      ].sort((one, other) => other.createdAt.localeCompare(one.createdAt))
    }
  })
  return (
    <Section title='Your reports'>
      {!query.data && <Loading of={query} />}
      {query.data?.length === 0 && (
        <Empty icon='checkmark-circle-outline' title='None'>
          You have reported nobody.
        </Empty>
      )}
      {query.data?.map(({ id, title, details, state, createdAt }) => (
        <View key={id}>
          <Text bold>{title}</Text>
          <Text tone='soft' size={14}>{[format.date(createdAt), details].filter(Boolean).join(' · ')}</Text>
          <Text size={14}>{reportStates[state]}</Text>
        </View>
      ))}
    </Section>
  )
}

function Blocked () {
  const tandem = useTandem()
  const refresh = useRefresh()
  const query = useQuery({
    queryKey: ['blocked'],
    queryFn: async ({ signal }) => (await tandem.listBlockedPeople({ signal })).data.blockedUsers
  })
  return (
    <Section title='People you have blocked'>
      {!query.data && <Loading of={query} />}
      {query.data?.length === 0 && <Text tone='soft'>Nobody.</Text>}
      {query.data?.map(({ profileId, displayName }) => (
        <Row key={profileId} style={{ justifyContent: 'space-between' }}>
          <Text bold style={{ flexShrink: 1 }}>{displayName}</Text>
          <Button
            title='Unblock'
            onPress={async () => {
              await tandem.unblockPerson({ query: { profileId } })
              await refresh()
            }}
          />
        </Row>
      ))}
    </Section>
  )
}
