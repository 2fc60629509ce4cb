import { useState } from 'react'
import { useFeature } from '../../components/api.ts'
import { Text, Screen } from '../../components/layout.tsx'
import { Programs } from '../../components/programs.tsx'
import { WorkoutForm } from '../../components/workout-form.tsx'

/** Log a workout, and the programs that one can be logged from. */
export default function Train () {
  const hasPrograms = useFeature('dashboardPrograms')
  const [done, setDone] = useState('')
  return (
    <Screen>
      {done !== '' && <Text tone='good' bold role='status'>{`✓ ${done}`}</Text>}
      <WorkoutForm onSaved={() => setDone('Your workout is saved')} />
      {hasPrograms && <Programs onDone={setDone} />}
    </Screen>
  )
}
