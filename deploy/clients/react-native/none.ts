/** A native module that this phone lacks. */
export default null
