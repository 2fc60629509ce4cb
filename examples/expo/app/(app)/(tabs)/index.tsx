import { useHome, useLog } from '@tandem/react'
import type { GetHomeResponse } from '@tandem/sdk'
import { Link, useRouter } from 'expo-router'
import { View } from 'react-native'
import { useFeature } from '../../../components/api.ts'
import { Button, IconButton } from '../../../components/controls.tsx'
import { countOf, useFormat } from '../../../components/format.ts'
import { Avatar, Bar, Card, Icon, OpenRow, Row, Screen, Section, Text } from '../../../components/layout.tsx'
import { PlanDetails } from '../../../components/plans.tsx'
import { Empty, Loading } from '../../../components/states.tsx'

type Home = GetHomeResponse['data']

export default function HomeScreen () {
  const { home, query, waitingLogs } = useHome()
  const hasFitMatch = useFeature('fitmatch')
  const hasActivities = useFeature('activities')
  const router = useRouter()
  const settings = <IconButton icon='settings-outline' label='Settings' onPress={() => router.push('/settings')} />
  if (!home) {
    return (
      <Screen title='Home' action={settings}>
        <Loading of={query} />
      </Screen>
    )
  }
  const { profileCompletion } = home
  return (
    <Screen title={`${greeting()}, ${home.user.name?.split(' ')[0] ?? 'you'}`} action={settings}>
      {profileCompletion !== null && profileCompletion < 60 && (
        <Section title='Finish your profile'>
          <Text tone='soft'>{`It is ${profileCompletion} % complete. Others find you by it.`}</Text>
          <Button title='Continue' kind='primary' onPress={() => router.push('/onboarding')} />
        </Section>
      )}
      <Streak home={home} />
      <Today home={home} waitingLogs={waitingLogs} />
      {hasActivities && <Plans home={home} />}
      <Card>
        <OpenRow icon='trending-up' title='Progress' detail='Health score and this week' href='/progress' />
        <OpenRow icon='trophy-outline' title='Achievements' detail='What you have earned' href='/achievements' />
        <OpenRow icon='flag-outline' title='Goals' detail='Calories and nutrients of a day' href='/goals' />
        <OpenRow icon='pulse-outline' title='Health' detail='Trends and imports' href='/health' />
      </Card>
      {hasFitMatch && <Matches home={home} />}
    </Screen>
  )
}

function greeting () {
  const hour = new Date().getHours()
  return hour < 12 ? 'Good morning' : hour < 18 ? 'Good afternoon' : 'Good evening'
}

function Streak ({ home: { user, stats } }: { home: Home }) {
  return (
    <Card>
      <Row>
        <Text size={44} bold>{user.streak}</Text>
        <View>
          <Row style={{ gap: 4 }}>
            <Text bold>day streak</Text>
            <Icon name='flame' size={18} tone='accent' />
          </Row>
          <Text tone='soft' size={14}>{`Longest: ${countOf(user.longestStreak, 'day')}`}</Text>
        </View>
      </Row>
      <Bar share={levelShare(user)} />
      <Text tone='soft' size={14}>
        {`Level ${user.level} · ${user.xpToNextLevel} XP to the next · ${countOf(stats.totalPRs, 'record')}`}
      </Text>
    </Card>
  )
}

/** Level n begins at 50·n·(n-1) XP. */
const levelShare = ({ level, totalXp }: Home['user']) => (totalXp - 50 * level * (level - 1)) / (100 * level)

function Today ({ home: { stats, today }, waitingLogs }: { home: Home, waitingLogs: number }) {
  const log = useLog()
  const router = useRouter()
  const format = useFormat()
  const { water, steps, activeEnergy, restingHeartRate, workout } = today
  const measured = [
    `${format.number(steps)} steps`,
    activeEnergy > 0 && `${format.number(Math.round(activeEnergy))} kcal burned`,
    restingHeartRate !== undefined && `resting heart rate ${restingHeartRate}`
  ]
  return (
    <Section title='Today'>
      <Bar share={water.targetMl > 0 ? water.currentMl / water.targetMl : 0} />
      <Text tone='soft' size={14}>
        {`${format.number(water.currentMl / 1_000)} of ${format.number(water.targetMl / 1_000)} l water · ${
          format.number(stats.todayCalories)
        } kcal eaten`}
      </Text>
      <Text tone='soft' size={14}>{measured.filter(Boolean).join(' · ')}</Text>
      {workout && (
        <Text>
          {`${workout.isFinished ? '✓ ' : ''}${workout.name}: ${countOf(workout.exercises.length, 'exercise')}`}
        </Text>
      )}
      <Row style={{ flexWrap: 'wrap', alignItems: 'flex-start', gap: 8 }}>
        <Button title='250 ml' icon='water' onPress={async () => await log({ type: 'WATER', data: { ml: 250 } })} />
        <Button
          title='Snack'
          icon='restaurant'
          onPress={async () => await log({ type: 'FOOD', data: { name: 'Snack', calories: 200, protein: 10 } })}
        />
        <Button title='Train' icon='barbell' kind='primary' onPress={() => router.push('/train')} />
      </Row>
      {waitingLogs > 0 && <Text tone='soft' size={14}>{`${waitingLogs} will be sent when you are online.`}</Text>}
      <Text tone='soft' size={14}>
        {`${countOf(stats.workoutsThisWeek, 'workout')} this week · ${stats.totalWorkouts} in all`}
      </Text>
    </Section>
  )
}

function Plans ({ home: { upcomingActivities } }: { home: Home }) {
  return (
    <Section title='Train together'>
      {upcomingActivities.map((plan) => (
        <View key={plan.id} role='group' aria-label={plan.title}>
          <PlanDetails plan={plan} />
        </View>
      ))}
      <OpenRow icon='calendar-outline' title='Plans and invitations' href='/plans' />
    </Section>
  )
}

function Matches ({ home: { matches } }: { home: Home }) {
  return (
    <Section title='Your matches'>
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
    </Section>
  )
}
