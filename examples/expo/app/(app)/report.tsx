import { useTandem } from '@tandem/react'
import type { ContentReport, Report } from '@tandem/sdk'
import { useLocalSearchParams } from 'expo-router'
import { useState } from 'react'
import { useBack } from '../../components/back.ts'
import { Button, Field, Segments } from '../../components/controls.tsx'
import { Screen, Section, Text } from '../../components/layout.tsx'
import { useRefresh } from '../../components/refresh.ts'
import { contentReasons, personReasons } from '../../components/safety-texts.ts'

/** Reports a person of FitMatch, who is then blocked, or a post. */
export default function ReportPage () {
  const { profileId, postId, name = 'this' } = useLocalSearchParams<
    { profileId?: string, postId?: string, name?: string }
  >()
  return (
    <Screen>
      {profileId !== undefined && <ReportPerson profileId={profileId} name={name} />}
      {postId !== undefined && <ReportPost postId={postId} name={name} />}
    </Screen>
  )
}

function ReportPerson ({ profileId, name }: { profileId: string, name: string }) {
  const tandem = useTandem()
  const refresh = useRefresh()
  const back = useBack()
  const report = async (reason: Report['reason'], details: string) => {
    await tandem.reportPerson({ body: { reportedProfileId: profileId, reason, details } })
    // Nothing shows a person who is blocked.
    await refresh()
    back()
  }
  return (
    <Form
      title={`Report ${name}`}
      note='They are blocked at once, and not told.'
      reasons={personReasons}
      button='Report and block'
      onReport={report}
    />
  )
}

function ReportPost ({ postId, name }: { postId: string, name: string }) {
  const tandem = useTandem()
  const refresh = useRefresh()
  const back = useBack()
  const report = async (reason: ContentReport['reason'], details: string) => {
    await tandem.reportContent({
      body: { targetType: 'POST', targetId: postId, reason, ...details !== '' && { details } }
    })
    await refresh(['reports'])
    back()
  }
  return (
    <Form
      title={`Report the post of ${name}`}
      note='They are not told who reported it.'
      reasons={contentReasons}
      button='Report'
      onReport={report}
    />
  )
}

interface FormOptions<Reason extends string> {
  title: string
  note: string
  reasons: Record<Reason, string>
  button: string
  onReport: (reason: Reason, details: string) => Promise<void>
}

function Form<Reason extends string> ({ title, note, reasons, button, onReport }: FormOptions<Reason>) {
  const [reason, setReason] = useState<Reason>()
  const [details, setDetails] = useState('')
  return (
    <Section title={title}>
      <Text tone='soft'>{note}</Text>
      <Text bold size={14}>What is wrong?</Text>
      <Segments options={reasons} value={reason} onChange={setReason} />
      <Field label='Details' value={details} onChangeText={setDetails} multiline numberOfLines={3} maxLength={2_000} />
      <Button
        title={button}
        kind='bad'
        isDisabled={reason === undefined}
        onPress={async () => reason !== undefined && await onReport(reason, details.trim())}
      />
    </Section>
  )
}
