/** A file of React Native, whose FormData reads it from the disk. */
export interface NativeFile {
  uri: string
  name: string
  type: string
}

/**
 * The options of an upload: `tandem.uploadMedia(uploadOf(file))`. The file is a File or Blob, or what the photo picker
 * of React Native returns.
 * @param poster the image that is shown until a video plays; only for `uploadMedia`
 */
export function uploadOf (file: Blob | NativeFile, poster?: Blob | NativeFile) {
  const form = new FormData()
  // React Native's FormData takes the description of a file in place of its bytes; no type of it is at hand here.
  if (poster) form.append('poster', poster as Blob)
  form.append('file', file as Blob)
  return { body: { file: file as Blob }, bodySerializer: () => form }
}
