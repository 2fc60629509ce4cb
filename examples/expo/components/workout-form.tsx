import { useLog, useTandem } from '@tandem/react'
import { useState } from 'react'
import { Button, Field, IconButton } from './controls.tsx'
import { Row, Section, Text } from './layout.tsx'
import { Search } from './search.tsx'
import { View } from 'react-native'

const MINUTES_PER_SET = 3
const MIN_MINUTES = 10

interface Lift {
  key: number
  exerciseId: string | undefined
  name: string
  sets: string
  reps: string
  weightKg: string
}

const figures = [['sets', 'Sets'], ['reps', 'Reps'], ['weightKg', 'kg']] as const

/** A workout with the exercises of the library. It is stored at once, and sent when the server can be reached. */
export function WorkoutForm ({ onSaved }: { onSaved: () => void }) {
  const log = useLog()
  const [lifts, setLifts] = useState<Lift[]>([])
  const add = (name: string, exerciseId?: string) =>
    setLifts([...lifts, { key: Date.now(), exerciseId, name, sets: '3', reps: '8', weightKg: '0' }])
  const change = (key: number, part: Partial<Lift>) =>
    setLifts(lifts.map((each) => each.key === key ? { ...each, ...part } : each))
  const isComplete = lifts.length > 0 &&
    lifts.every((lift) =>
      countOf(lift.sets) >= 1 && countOf(lift.sets) <= 20 && countOf(lift.reps) >= 1 && weightOf(lift.weightKg) >= 0
    )
  const save = async () => {
    const sets = lifts.reduce((sum, each) => sum + countOf(each.sets), 0)
    await log({
      type: 'WORKOUT',
      data: {
        title: 'Workout',
        durationMinutes: Math.max(MIN_MINUTES, sets * MINUTES_PER_SET),
        exercises: lifts.map(exerciseOf)
      }
    })
    setLifts([])
    onSaved()
  }
  return (
    <Section title='Log a workout'>
      {lifts.map(({ key, name, ...lift }) => (
        <View key={key}>
          <Row style={{ justifyContent: 'space-between' }}>
            <Text bold style={{ flexShrink: 1 }}>{name}</Text>
            <IconButton
              icon='close'
              label={`Remove ${name}`}
              onPress={() => setLifts(lifts.filter((each) => each.key !== key))}
            />
          </Row>
          <Row>
            {figures.map(([field, label]) => (
              <Field
                key={field}
                label={label}
                value={lift[field]}
                inputMode='decimal'
                selectTextOnFocus
                onChangeText={(text) => change(key, { [field]: text })}
                style={{ width: 40 }}
              />
            ))}
          </Row>
        </View>
      ))}
      <ExerciseSearch onChoose={add} />
      {lifts.length > 0 && <Button title='Save workout' kind='primary' onPress={save} isDisabled={!isComplete} />}
    </Section>
  )
}

function ExerciseSearch ({ onChoose }: { onChoose: (name: string, exerciseId?: string) => void }) {
  const tandem = useTandem()
  const own = (text: string, detail: string) => ({
    key: 'own',
    title: `Log “${text}”`,
    detail,
    choose: () => onChoose(text)
  })
  return (
    <Search
      label='Find an exercise'
      queryKey={['exercises']}
      search={async (query, signal) =>
        (await tandem.listExercises({ query: { query, limit: 6 }, signal })).data.exercises}
      resultsOf={(exercises, text) => [
        ...exercises.map(({ id, name, isCustom, primaryMuscles, equipment }) => ({
          key: id,
          title: name,
          detail: isCustom ? 'Added by you' : [...primaryMuscles, equipment].filter(Boolean).join(' · '),
          choose: () => onChoose(name, id)
        })),
        ...exercises.length > 0 ? [] : [own(text, 'No exercise of the library has this name')]
      ]}
      offlineOf={(text) => [own(text, 'By its name, without the library')]}
    />
  )
}

const countOf = (text: string) => /^\d+$/.test(text) ? Number(text) : NaN

/** People write a comma in many countries. */
const weightOf = (text: string) => /^\d+([.,]\d+)?$/.test(text) ? Number(text.replace(',', '.')) : NaN

const exerciseOf = ({ exerciseId, name, sets, reps, weightKg }: Lift) => ({
  ...exerciseId !== undefined && { exerciseId },
  name,
  sets: Array.from({ length: countOf(sets) }, () => ({ reps: countOf(reps), weightKg: weightOf(weightKg) }))
})
