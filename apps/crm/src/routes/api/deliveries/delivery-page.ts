import { DeliveryView } from '@leads/core/delivery';
import { Type } from 'typebox';
import { linkHeader } from '../page-links.ts';

/** The response of a route that lists deliveries. */
export const DeliveryPage = Type.Array(DeliveryView, {
  description: 'One page of deliveries.',
  headers: { Link: linkHeader },
});
