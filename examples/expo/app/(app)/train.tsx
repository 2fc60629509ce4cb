import { useState } from 'react'
import { Text, Screen } from '../../components/layout.tsx'
import { Programs } from '../../components/programs.tsx'
import { WorkoutForm } from '../../components/workout-form.tsx'

/** Log a workout, and the programs that one can be logged from. */
export default function Train () {
  const [done, setDone] = useState('')
  return (
    <Screen>
      {done !== '' && <Text tone='good' bold role='status'>{`✓ ${done}`}</Text>}
      <WorkoutForm onSaved={() => setDone('Your workout is saved')} />
      <Programs onDone={setDone} />
    </Screen>
  )
}
