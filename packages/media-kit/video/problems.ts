/** Why a video is refused: the names of the errors in `../errors.ts`. */
export type ProblemName =
  | 'NotAVideo'
  | 'CorruptVideo'
  | 'EncryptedVideo'
  | 'OtherCodec'
  | 'OtherSound'
  | 'OtherProfile'
  | 'HighDynamicRange'
  | 'SeveralPictures'
  | 'NoPicture'
  | 'PictureTooLarge'
  | 'TooManyFrames'
  | 'BitRateTooHigh'
  | 'VideoTooLong'
  | 'VideoTooShort'

/** A problem of the file, as opposed to one of ours. `details` fill the placeholders of the message. */
export class VideoProblem extends Error {
  readonly problem: ProblemName
  readonly details: string[]

  constructor (problem: ProblemName, ...details: string[]) {
    super(problem)
    this.problem = problem
    this.details = details
  }
}
