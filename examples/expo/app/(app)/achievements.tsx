import { keys, useTandem } from '@tandem/react'
import type { Achievement } from '@tandem/sdk'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { View } from 'react-native'
import { Button } from '../../components/controls.tsx'
import { Bar, Icon, Row, Screen, Section, Text, type IconName } from '../../components/layout.tsx'
import { Empty, Loading } from '../../components/states.tsx'

const queryKey = [...keys.home, 'achievements']
const icons: Record<Achievement['icon'], IconName> = {
  workout: 'barbell',
  streak: 'flame',
  record: 'trophy',
  level: 'star',
  program: 'clipboard',
  people: 'people'
}

/** What the person has earned, each to share in a post, and what they can earn, the closest first. */
export default function Achievements () {
  const tandem = useTandem()
  const query = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await tandem.listAchievements({ signal })).data.achievements
  })
  if (!query.data) {
    return (
      <Screen>
        <Loading of={query} />
      </Screen>
    )
  }
  const earned = query.data.filter(({ earnedAt }) => earnedAt !== null)
    .sort((one, other) => (other.earnedAt ?? '').localeCompare(one.earnedAt ?? ''))
  const next = query.data.filter(({ earnedAt }) => earnedAt === null)
    .sort((one, other) => other.progress - one.progress)
  return (
    <Screen>
      <Section title='Earned'>
        {earned.length === 0 && (
          <Empty icon='trophy-outline' title='None yet'>Log a workout to earn the first one.</Empty>
        )}
        {earned.map((each) => <Earned key={each.kind} achievement={each} />)}
      </Section>
      {next.length > 0 && (
        <Section title='Next'>
          {next.map(({ kind, icon, title, description, progress }) => (
            <Row key={kind}>
              <Icon name={icons[icon]} tone='accent' />
              <View style={{ flex: 1, gap: 4 }}>
                <Text bold>{title}</Text>
                <Text tone='soft' size={14}>{description}</Text>
                <Bar share={progress / 100} />
              </View>
            </Row>
          ))}
        </Section>
      )}
    </Screen>
  )
}

function Earned ({ achievement: { id, icon, title, description, postId } }: { achievement: Achievement }) {
  const tandem = useTandem()
  const client = useQueryClient()
  const share = async (achievementId: string) => {
    const { data: { post } } = await tandem.createPost({ body: { type: 'ACHIEVEMENT', achievementId } })
    // The list says it a moment later.
    client.setQueryData<Achievement[]>(
      queryKey,
      (all) => all?.map((each) => each.id === achievementId ? { ...each, postId: post.id } : each)
    )
    await client.invalidateQueries({ queryKey: keys.feeds })
  }
  return (
    <Row role='group' aria-label={title} style={{ alignItems: 'flex-start' }}>
      <Icon name={icons[icon]} tone='accent' />
      <View style={{ flex: 1 }}>
        <Text bold>{title}</Text>
        <Text tone='soft' size={14}>{description}</Text>
      </View>
      {postId !== null
        ? <Text tone='soft'>Shared</Text>
        : id !== null && <Button title='Share' onPress={async () => await share(id)} />}
    </Row>
  )
}
