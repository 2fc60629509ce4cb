import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { screen, UserError } from '@tandem/local-servers/screen.ts'

interface Build {
  name: string
  image: string
  version: string
  commit: string
}

/**
 * Builds an image and pushes it: with buildx for PLATFORMS, else for the platform of this machine. With syft it gets an
 * SBOM, with cosign a signature. @returns its digest
 */
export function buildImage (root: string, { name, image, version, commit }: Build): string {
  const { PLATFORMS = 'linux/amd64,linux/arm64', NODE_IMAGE, WITH_FFMPEG, DOCKER_BUILD_NETWORK, COSIGN_KEY } =
    process.env
  const run = (program: string, ...args: string[]) => {
    const { status } = spawnSync(program, args, { cwd: root, stdio: ['ignore', 2, 2] })
    if (status !== 0) throw new UserError(`${program} ${args.join(' ')} failed`)
  }
  const tag = `${image}:${version}`
  const options = [
    '--file',
    'deploy/docker/Dockerfile',
    '--tag',
    tag,
    ...[`SERVICE=${name}`, `VERSION=${version}`, `COMMIT=${commit}`].flatMap((each) => ['--build-arg', each]),
    ...NODE_IMAGE ? ['--build-arg', `NODE_IMAGE=${NODE_IMAGE}`] : [],
    ...WITH_FFMPEG && name === 'social' ? ['--build-arg', 'WITH_FFMPEG=1'] : [],
    ...DOCKER_BUILD_NETWORK ? ['--network', DOCKER_BUILD_NETWORK] : []
  ]
  const digest = hasProgram('docker', 'buildx', 'version')
    ? buildWithBuildx((file) =>
      run('docker', 'buildx', 'build', '--push', '--platform', PLATFORMS, ...options, '--metadata-file', file, '.')
    )
    : buildHere()
  if (!digest) throw new UserError(`docker reported no digest of ${name}`)
  const reference = `${image}@${digest}`
  if (hasProgram('syft', 'version')) {
    mkdirSync(path.join(root, 'deploy/sbom'), { recursive: true })
    run('syft', reference, '--output', `cyclonedx-json=deploy/sbom/${name}.json`)
  } else {
    screen.warn(`syft is not installed, so ${name} has no SBOM`)
  }
  // Without a key, cosign signs with the identity of the CI job.
  if (hasProgram('cosign', 'version')) {
    run('cosign', 'sign', '--yes', ...COSIGN_KEY ? ['--key', COSIGN_KEY] : [], reference)
  } else screen.warn(`cosign is not installed, so ${name} is not signed`)
  return digest

  function buildHere () {
    screen.warn(`docker buildx is not installed, so ${name} is built for this machine's platform only`)
    run('docker', 'build', ...options, '.')
    run('docker', 'push', tag)
    const digests =
      spawnSync('docker', ['image', 'inspect', '--format', '{{join .RepoDigests "\\n"}}', tag], { encoding: 'utf8' })
        .stdout
    return digests.split('\n').find((each) => each.startsWith(`${image}@`))?.split('@')[1]
  }
}

const hasProgram = (program: string, ...args: string[]) => spawnSync(program, args, { stdio: 'ignore' }).status === 0

function buildWithBuildx (build: (metadataFile: string) => void): string | undefined {
  const folder = mkdtempSync(path.join(tmpdir(), 'tandem-release-'))
  try {
    const file = path.join(folder, 'metadata.json')
    build(file)
    return (JSON.parse(readFileSync(file, 'utf8')) as { 'containerimage.digest'?: string })['containerimage.digest']
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
