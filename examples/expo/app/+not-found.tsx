import { useRouter } from 'expo-router'
import { Button } from '../components/controls.tsx'
import { Screen } from '../components/layout.tsx'
import { Empty } from '../components/states.tsx'

/** An address without a page, such as one of a later version. */
export default function NotFound () {
  const router = useRouter()
  return (
    <Screen>
      <Empty icon='compass-outline' title='There is no such page'>Its address is wrong, or it has moved.</Empty>
      <Button title='Home' kind='primary' onPress={() => router.replace('/')} />
    </Screen>
  )
}
