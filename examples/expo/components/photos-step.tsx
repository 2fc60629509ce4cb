import { useTandem } from '@tandem/react'
import { uploadOf } from '@tandem/sdk'
import { useState } from 'react'
import { Image } from 'react-native'
import { useApp } from './api.ts'
import { Button } from './controls.tsx'
import { fileOf, pickPicture } from './files.ts'
import { altOf, Card, Row, Screen, Text } from './layout.tsx'

const MIN_PHOTOS = 2

/** The photos of the profile: two or more, or none for now. */
export function PhotosStep ({ onDone }: { onDone: () => void }) {
  const tandem = useTandem()
  const { profilePhotos: maxPhotos = MIN_PHOTOS } = useApp().brand.limits.product
  const [photos, setPhotos] = useState<string[]>([])
  const add = async () => {
    const picked = await pickPicture()
    if (!picked) return
    const { data } = await tandem.uploadOnboardingPhoto(uploadOf(fileOf(picked)))
    setPhotos([...photos, data.url])
  }
  const save = async () => {
    await tandem.saveOnboardingProfile({ body: { photos } })
    onDone()
  }
  return (
    <Screen title='Your photos'>
      <Card>
        <Text>At least two that show your face. Others decide by them whether they want to train with you.</Text>
        <Row style={{ flexWrap: 'wrap' }}>
          {photos.map((uri, index) => (
            <Image
              key={uri}
              source={{ uri }}
              {...altOf(`Photo ${index + 1}`)}
              style={{ width: 90, height: 90, borderRadius: 14 }}
            />
          ))}
        </Row>
        {photos.length < maxPhotos && <Button title='Add a photo' icon='camera' onPress={add} />}
        <Button title='Continue' kind='primary' onPress={save} isDisabled={photos.length < MIN_PHOTOS} />
        <Button title='Not now' onPress={onDone} />
      </Card>
    </Screen>
  )
}
