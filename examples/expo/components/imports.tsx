import { keys, useTandem } from '@tandem/react'
import { uploadOf, type Import } from '@tandem/sdk'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { Pressable, View } from 'react-native'
import { Button } from './controls.tsx'
import { pickDocument } from './files.ts'
import { useFormat } from './format.ts'
import { Bar, Row, Section, Text } from './layout.tsx'
import { useRefresh } from './refresh.ts'
import { Loading } from './states.tsx'

const queryKey = ['imports']
const POLL_MS = 700
const UNDO_MS = 7 * 86_400_000
const formats: Partial<Record<Import['type'], string>> = { APPLE_HEALTH: 'Apple Health', TANDEM: 'Copy of an account' }

const isFinished = ({ status }: Import) => status === 'DONE' || status === 'FAILED' || status === 'UNDONE'

/** Files of other apps: their progress, their report, and undo. */
export function Imports () {
  const tandem = useTandem()
  const refresh = useRefresh()
  const imports = useQuery({
    queryKey,
    queryFn: async ({ signal }) => (await tandem.listImports({ signal })).data.imports,
    refetchInterval: ({ state }) => state.data?.every(isFinished) === false && POLL_MS
  })
  const isWorking = imports.data?.every(isFinished) === false
  useEffect(() => {
    if (!isWorking) return
    // When it has ended, what is shown elsewhere has changed.
    return () => void refresh(keys.home)
  }, [isWorking])
  const choose = async () => {
    const file = await pickDocument()
    if (!file) return
    await tandem.importFile(uploadOf(file))
    await refresh(queryKey)
  }
  const undo = async (id: string) => {
    await tandem.undoImport({ path: { id } })
    await refresh(queryKey)
  }
  return (
    <Section title='Import a file'>
      <Text tone='soft' size={14}>
        FIT, GPX, TCX, CSV of Strong, Hevy or MyFitnessPal, or the export of Apple Health. What you have already is not
        counted twice.
      </Text>
      <Button title='Choose a file' onPress={choose} />
      {!imports.data && <Loading of={imports} />}
      {imports.data?.map((each) => <ImportView key={each.id} import={each} onUndo={async () => await undo(each.id)} />)}
    </Section>
  )
}

function ImportView ({ import: shown, onUndo }: { import: Import, onUndo: () => Promise<void> }) {
  const format = useFormat()
  const { type, status, progress, error, report, createdAt, finishedAt } = shown
  const canUndo = status === 'DONE' && report.new > 0 && Date.now() - Date.parse(finishedAt ?? createdAt) < UNDO_MS
  return (
    <View role='group' aria-label={formats[type] ?? type} style={{ gap: 6 }}>
      <Row style={{ justifyContent: 'space-between' }}>
        <Text bold>{formats[type] ?? type}</Text>
        <Text tone='soft' size={14}>{format.date(createdAt)}</Text>
      </Row>
      {!isFinished(shown) && (
        <>
          <Bar share={progress / 100} />
          <Text tone='soft' size={14}>{status === 'UNDOING' ? 'Taking it back …' : `Reading … ${progress} %`}</Text>
        </>
      )}
      {status === 'UNDONE' && <Text tone='soft'>You took this import back.</Text>}
      {status === 'FAILED' && <Text tone='bad'>{`This file cannot be read: ${error}. Nothing was saved.`}</Text>}
      {status === 'DONE' && <ReportView report={report} />}
      {canUndo && <Button title='Undo import' onPress={onUndo} />}
    </View>
  )
}

function ReportView ({ report }: { report: Import['report'] }) {
  const format = useFormat()
  const [isOpen, setOpen] = useState(false)
  const figures = [
    `${format.number(report.new)} new of ${format.number(report.found)} entries`,
    report.merged > 0 && `${format.number(report.merged)} joined with what you had`,
    report.refusedCount > 0 && `${format.number(report.refusedCount)} not readable`
  ]
  return (
    <>
      <Text>{figures.filter(Boolean).join(' · ')}</Text>
      {report.refused.length > 0 && (
        <Pressable role='button' aria-expanded={isOpen} onPress={() => setOpen(!isOpen)}>
          <Text bold tone='accent' size={14}>What could not be read</Text>
        </Pressable>
      )}
      {isOpen &&
        report.refused.map(({ line, reason }) => (
          <Text key={line} tone='soft' size={14}>{`Line ${line}: ${reason}`}</Text>
        ))}
    </>
  )
}
