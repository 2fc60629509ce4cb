import { currentTest } from './current-test.ts'

// What a test file gets as tap: see run-test-files.ts. It is evaluated once for each file.
export default currentTest()
