import { LandingPageView } from '@leads/core/campaign';
import { Type } from 'typebox';

/** The answer to a change of a landing page. */
export const LandingPageAnswer = Type.Object(
  { success: Type.Literal(true), landingPage: LandingPageView },
  { additionalProperties: false, description: 'The landing page as it is now.' },
);
