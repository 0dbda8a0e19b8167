/*
 * pldi_delay.h - where a test may hold a rank up: PLDI_DELAY() stands between the labelled steps of
 * every protocol, and is nothing.  In the copy of the library that tests/stress/storm-delays runs,
 * compiled with PLDI_DELAYS, it gives the CPU away or sleeps, at random (tests/stress/delays.c).
 */
#ifndef PLDI_DELAY_H
#define PLDI_DELAY_H

#ifdef PLDI_DELAYS
void pldi_delay(void);
#define PLDI_DELAY() pldi_delay()
#else
#define PLDI_DELAY() ((void)0)
#endif

#endif
