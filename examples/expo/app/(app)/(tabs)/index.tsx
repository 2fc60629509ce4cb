import { useHome, useLog } from '@tandem/react'
import { Link, useRouter } from 'expo-router'
import { View } from 'react-native'
import { Avatar, Bar, Button, Card, Empty, IconButton, Loading, Row, Screen, Text } from '../../../components/ui.tsx'

export default function Home () {
  const { home, query, waitingLogs } = useHome()
  const router = useRouter()
  const log = useLog()
  const settings = <IconButton icon='settings-outline' label='Settings' onPress={() => router.push('/settings')} />
  if (!home) {
    return (
      <Screen title='Home' action={settings}>
        <Loading of={query} />
      </Screen>
    )
  }
  const { user, stats, today, matches, upcomingActivities, profileCompletion } = home
  const { currentMl, targetMl } = today.water
  return (
    <Screen title={user.name?.split(' ')[0] ?? 'Home'} action={settings}>
      {profileCompletion !== null && profileCompletion < 60 && (
        <Card>
          <Text bold>Finish your profile</Text>
          <Text tone='soft'>{`It is ${profileCompletion} % complete. Others find you by it.`}</Text>
          <Button title='Continue' kind='primary' onPress={() => router.push('/onboarding')} />
        </Card>
      )}
      <Card>
        <Row>
          <Text size={44} bold>{user.streak}</Text>
          <View>
            <Text bold>day streak 🔥</Text>
            <Text tone='soft' size={14}>{`Longest: ${user.longestStreak} days`}</Text>
          </View>
        </Row>
        <Bar share={levelShare(user)} />
        <Text tone='soft' size={14}>
          {`Level ${user.level} · ${user.xpToNextLevel} XP to the next · ${stats.totalPRs} records`}
        </Text>
      </Card>
      <Card>
        <Text bold size={18}>Today</Text>
        <Bar share={targetMl > 0 ? currentMl / targetMl : 0} />
        <Text tone='soft' size={14}>
          {`${currentMl / 1_000} of ${targetMl / 1_000} l water · ${stats.todayCalories} kcal`}
        </Text>
        <Row style={{ flexWrap: 'wrap' }}>
          <Button title='💧 250 ml' onPress={async () => await log({ type: 'WATER', data: { ml: 250 } })} />
          <Button
            title='💪 30 min'
            onPress={async () => await log({ type: 'WORKOUT', data: { title: 'Workout', durationMinutes: 30 } })}
          />
        </Row>
        {waitingLogs > 0 && <Text tone='soft' size={14}>{`${waitingLogs} will be sent when you are online.`}</Text>}
        {today.workout && (
          <Text>
            {`${
              today.workout.isFinished ? '✓ ' : ''
            }${today.workout.name}: ${today.workout.exercises.length} exercises`}
          </Text>
        )}
      </Card>
      <Card>
        <Text bold size={18}>This week</Text>
        <Text tone='soft'>{`${stats.workoutsThisWeek} workouts · ${stats.totalWorkouts} in all`}</Text>
        {upcomingActivities.map(({ id, title, date, startTime, locationName }) => (
          <View key={id}>
            <Text bold>{title}</Text>
            <Text tone='soft' size={14}>{`${date}, ${startTime} · ${locationName}`}</Text>
          </View>
        ))}
      </Card>
      <Card>
        <Text bold size={18}>Your matches</Text>
        {matches.length === 0 && <Empty icon='flash-outline' title='Nobody yet'>Find somebody to train with.</Empty>}
        <Row style={{ flexWrap: 'wrap', gap: 14 }}>
          {matches.map(({ matchId, displayName, photo }) => (
            <Link key={matchId} href={{ pathname: '/chat/[id]', params: { id: matchId } }}>
              <View style={{ alignItems: 'center', gap: 4, width: 64 }}>
                <Avatar name={displayName} image={photo} size={60} />
                <Text size={13} numberOfLines={1}>{displayName.split(' ')[0]}</Text>
              </View>
            </Link>
          ))}
        </Row>
      </Card>
    </Screen>
  )
}

/** Level n begins at 50·n·(n-1) XP. */
const levelShare = ({ level, totalXp }: { level: number, totalXp: number }) =>
  (totalXp - 50 * level * (level - 1)) / (100 * level)
