import { randomInt } from 'node:crypto'

const ADJECTIVES =
  `Able Agile Amber Azure Bold Brave Breezy Bright Brisk Calm Clear Clever Cosmic Cozy Crisp Daring Eager Early
  Fair Fleet Fresh Gentle Glad Golden Grand Happy Hardy Honest Jolly Keen Kind Lively Lucky Mellow Merry
  Mighty Misty Nimble Noble Patient Plucky Proud Quick Quiet Rapid Ready Rosy Rustic Silver Smooth Snappy
  Solar Sound Steady Strong Sunny Swift Tidy Vivid Witty`.split(/\s+/)
const NOUNS =
  `Badger Banyan Beacon Bison Canyon Cedar Cloud Comet Condor Coral Crane Dolphin Eagle Ember Falcon Fern Finch
  Forest Gecko Harbor Heron Ibex Island Jaguar Koala Lagoon Lark Lemur Lotus Lynx Maple Meadow Mango Meteor
  Ocean Orca Orchid Osprey Otter Panda Panther Pebble Pine Puma Raven Reef Ridge River Robin Rocket Sparrow
  Spruce Stone Summit Tiger Trail Tulip Valley Willow Zebra`.split(/\s+/)

const pick = (words: string[]) => words[randomInt(words.length)]!

/** Generates a name that reveals nothing about the person: `Swift Otter`. */
export const generateName = () => `${pick(ADJECTIVES)} ${pick(NOUNS)}`

/**
 * Generates a username that reveals nothing about the person: `swiftotter4821`. With the default four digits there are
 * 32 million.
 */
export const generateUsername = (digits = 4) =>
  `${generateName().replace(' ', '').toLowerCase()}${randomInt(10 ** (digits - 1), 10 ** digits)}`
