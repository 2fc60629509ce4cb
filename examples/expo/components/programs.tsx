import { keys, useTandem } from '@tandem/react'
import type { Program, ProgramTemplate } from '@tandem/sdk'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Pressable, View } from 'react-native'
import { Button } from './controls.tsx'
import { Icon, Row, Section, Text } from './layout.tsx'
import { useRefresh } from './refresh.ts'
import { Loading } from './states.tsx'

const queryKey = ['programs']

/** Runs a change, shows what it has done, and loads the programs again. */
type Run = (work: () => Promise<unknown>, done: string) => Promise<void>

/** The programs of the person, and templates to begin with. */
export function Programs ({ onDone }: { onDone: (text: string) => void }) {
  const tandem = useTandem()
  const refresh = useRefresh()
  const programs = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await tandem.listPrograms({ signal })).data.programs
  })
  const templates = useQuery({
    queryKey: ['program templates'],
    queryFn: async ({ signal }) => (await tandem.listProgramTemplates({ signal })).data.templates
  })
  const run: Run = async (work, done) => {
    await work()
    onDone(done)
    await refresh(queryKey, keys.home)
  }
  return (
    <>
      <Section title='Your programs'>
        {!programs.data && <Loading of={programs} />}
        {programs.data?.length === 0 && <Text tone='soft'>You have no program yet. Start from one below.</Text>}
        {programs.data?.map((program) => <ProgramView key={program.id} program={program} run={run} />)}
      </Section>
      <Section title='Start from a template'>
        {!templates.data && <Loading of={templates} />}
        {templates.data?.map((template) => <Template key={template.id} template={template} run={run} />)}
      </Section>
    </>
  )
}

function ProgramView ({ program: { id, name, isActive, days }, run }: { program: Program, run: Run }) {
  const tandem = useTandem()
  const today = new Date().toLocaleDateString('en', { weekday: 'long' }).toUpperCase()
  const todays = days.find(({ dayOfWeek, isRestDay }) => dayOfWeek === today && !isRestDay)
  const activate = async (programId: string | null) => await tandem.activateProgram({ body: { programId } })
  return (
    <View role='group' aria-label={name} style={{ gap: 10 }}>
      <Row style={{ justifyContent: 'space-between' }}>
        <Text bold style={{ flexShrink: 1 }}>{name}</Text>
        {isActive && <Text tone='good' bold size={14}>Active</Text>}
      </Row>
      <Days days={days} />
      <Row style={{ flexWrap: 'wrap', alignItems: 'flex-start' }}>
        {isActive
          ? <Button title='Pause' onPress={async () => await run(() => activate(null), `${name} is paused`)} />
          : (
            <Button
              title='Use it'
              onPress={async () => await run(() => activate(id), `${name} is your program now`)}
            />
          )}
        <Button
          title={todays ? 'Log today as planned' : 'Rest day'}
          kind='primary'
          isDisabled={!todays}
          onPress={async () =>
            await run(
              () => tandem.logPlannedWorkout({ body: { programDayId: todays?.id ?? '' } }),
              `${todays?.name} is logged as planned`
            )}
        />
      </Row>
    </View>
  )
}

function Template ({ template: { id, name, description, days }, run }: { template: ProgramTemplate, run: Run }) {
  const tandem = useTandem()
  const [isOpen, setOpen] = useState(false)
  return (
    <View role='group' aria-label={name} style={{ gap: 10 }}>
      <Pressable role='button' aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
        <Row>
          <View style={{ flex: 1 }}>
            <Text bold>{name}</Text>
            <Text tone='soft' size={14}>{description}</Text>
          </View>
          <Icon name={isOpen ? 'chevron-up' : 'chevron-down'} size={18} />
        </Row>
      </Pressable>
      {isOpen && (
        <>
          <Days days={days} />
          <Button
            title='Copy to my programs'
            onPress={async () =>
              await run(() => tandem.copyProgramTemplate({ path: { id } }), `${name} is among your programs`)}
          />
        </>
      )}
    </View>
  )
}

function Days ({ days }: { days: { dayOfWeek: string, name: string, exercises: { name: string }[] }[] }) {
  return days.map(({ dayOfWeek, name, exercises }) => (
    <Row key={dayOfWeek} style={{ alignItems: 'flex-start' }}>
      <Text tone='soft' size={14} bold style={{ width: 36 }}>
        {`${dayOfWeek[0]}${dayOfWeek.slice(1, 3).toLowerCase()}`}
      </Text>
      <View style={{ flex: 1 }}>
        <Text size={14} bold>{name}</Text>
        <Text tone='soft' size={14}>{exercises.map((exercise) => exercise.name).join(', ')}</Text>
      </View>
    </Row>
  ))
}
